#!/usr/bin/env node
// Old versions of Node must be able to read this file, so it imports nothing before it has looked at the version.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < 22 || major === 23 || (major === 22 && minor < 13)) {
  process.stderr.write(
    `perdure needs Node 22.13 or newer, and not 23; this is Node ${process.versions.node}.\n` +
      "Install a newer one, such as the present LTS release, and run the command again.\n",
  );
  process.exitCode = 1;
} else {
  void import("./main.ts").then(({ main }) => main());
}

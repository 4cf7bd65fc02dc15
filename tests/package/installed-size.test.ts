import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { root } from "../../scripts/entry-points.ts";
import { installPackage } from "../support/install-package.ts";

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** Everything that `npm install perdure` installs, without the drivers that users choose. */
function findDependencies(): string[] {
  const found = new Set(Object.keys(manifest.dependencies));
  for (const name of found) {
    const { dependencies = {} } = JSON.parse(
      readFileSync(join(root, "node_modules", name, "package.json"), "utf8"),
    ) as Manifest;
    for (const inner of Object.keys(dependencies)) found.add(inner);
  }
  return [...found].sort();
}

function sizeOf(directory: string): number {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
}

test("installing the package adds few packages and few megabytes", async () => {
  const { directory } = await installPackage();
  const dependencies = findDependencies();
  const megabytes = [directory, ...dependencies.map((name) => join(root, "node_modules", name))].map(
    (path) => sizeOf(path) / 1e6,
  );
  const total = megabytes.reduce((sum, size) => sum + size, 0);

  expect(dependencies).toEqual([
    "@clack/core",
    "@clack/prompts",
    "@standard-schema/spec",
    "commander",
    "croner",
    "fast-string-truncated-width",
    "fast-string-width",
    "fast-wrap-ansi",
    "sisteransi",
  ]);
  expect(total, megabytes.map((size) => size.toFixed(2)).join(" + ")).toBeLessThan(8);
});

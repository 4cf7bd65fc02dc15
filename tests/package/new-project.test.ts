import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { root } from "../../scripts/entry-points.ts";
import { installPackage } from "../support/install-package.ts";
import { waitUntil } from "../support/wait-until.ts";

const execute = promisify(execFile);
const compilerOptions = {
  module: "nodenext",
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  types: ["node"],
};

test("the project that perdure init writes has sound types, and runs with the installed package", async () => {
  const { project, directory } = await installPackage(["@types/node", "undici-types", "@cloudflare/workers-types"]);
  const program = join(directory, "dist/cli/perdure.js");
  const cwd = join(project, "my-app");
  const perdure = async (...parameters: string[]) =>
    (await execute(process.execPath, [program, ...parameters], { cwd: project })).stdout;

  expect(await perdure("init", "my-app", "--yes")).toContain("npx perdure dev");
  await writeFile(join(cwd, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["app.ts"] }));
  await execute(process.execPath, [join(root, "node_modules/@typescript/native/bin/tsc"), "-p", cwd]);

  const started = spawn(process.execPath, [program, "dev", "--port", "0"], {
    cwd,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  started.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  try {
    await waitUntil("it serves the dashboard", () => /Dashboard: http:/.test(said) || null);
    const app = ["--app", join(cwd, "app.ts")];
    const created = spawn(
      process.execPath,
      [program, "workflows", "create", "greeting", "you", "--id", "one", ...app],
      { cwd },
    );
    expect(await once(created, "exit")).toEqual([0, null]);
    await waitUntil("its hook has run", () => said.includes("Hello, you!") || null);
    await waitUntil("the log tells of its end", () => /greeting\/one {2}completed/.test(said) || null);
  } finally {
    started.kill("SIGTERM");
    await once(started, "exit");
  }
  expect(started.exitCode).toBe(0);
});

import { execFile } from "node:child_process";
import { mkdtemp, readFile, realpath, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import ts from "typescript";
import { beforeAll, describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { installPackage } from "../support/install-package.ts";

const execute = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const pathOf = (path: string) => join(root, path);

/** The oldest and the newest of each release line that `engines` admits, as npm installs them; `node` is the newest 24. */
const VERSIONS = Object.keys(manifest.devDependencies).filter((name) => /^node(-\d+-(oldest|newest))?$/.test(name));

/** A project in which the package is installed, and programs that use it. */
let directory: string;

beforeAll(async () => {
  ({ project: directory } = await installPackage());
  const [, sample = ""] = /```ts\n([\s\S]*?)```/.exec(await readFile(pathOf("README.md"), "utf8")) ?? [];
  const slice = await readFile(new URL("./support/slice-program.ts", import.meta.url), "utf8");
  // Nodes before 22.18 run no TypeScript, and those before 24 know no `await using`.
  for (const [name, text] of Object.entries({ sample, slice })) {
    const compilerOptions = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext };
    await writeFile(join(directory, `${name}.mjs`), ts.transpileModule(text, { compilerOptions }).outputText);
  }
});

async function run(version: string, program: string, ...parameters: string[]): Promise<string[]> {
  const cwd = await mkdtemp(join(directory, "run-"));
  const node = pathOf(`node_modules/${version}/bin/node`);
  const { NODE_OPTIONS: _options, ...env } = process.env;
  const { stdout } = await execute(node, [resolve(directory, program), ...parameters], { cwd, env, timeout: 30_000 });
  return stdout.trimEnd().split("\n");
}

describe.concurrent.each(VERSIONS)("the built package on %s", (version) => {
  test("runs README.md's first sample to its end", async () => {
    expect(await run(version, "sample.mjs")).toEqual(["charging the card", "order-1 is confirmed"]);
  });

  test("runs the program `perdure`", async () => {
    const program = "../node_modules/perdure/dist/cli/perdure.js";

    expect(await run(version, program, "--version")).toEqual([manifest.version]);
    expect(await run(version, program, "migrate", "--create", "--database", "new.db")).toEqual([
      "ok new.db is migrated: 1 applied",
    ]);
    const seen = await run(version, program, "init", "made", "--yes");
    expect(seen[0]).toBe("ok A project is in made. Next:");
  });

  test("runs hooks, units of work, workflows, schedules and subjects on embedded SQLite", async () => {
    const [said = ""] = await run(version, "slice.mjs", "app.db");

    expect(JSON.parse(said)).toEqual({
      refused: "refused",
      customers: [{ name: "Ada" }],
      order: "12 approved by Ada",
      again: "12 approved by Ada",
      failure: expect.stringContaining("Eve approves nothing."),
      limited: ["worked", "worked"],
      night: "reported",
      listed: ["order-1"],
      status: "complete",
    });
  });
});

test("the oldest versions that `engines` admits are among those that are tested", async () => {
  const versions = VERSIONS.map((name) => (manifest.devDependencies as Record<string, string>)[name]);

  expect(manifest.engines.node).toBe(">=22.13 <23 || >=24");
  expect(versions).toEqual(
    expect.arrayContaining([expect.stringContaining("@22.13.0"), expect.stringContaining("@24.0.0")]),
  );
});

test("npm's scripts run on the package `node`, not on one of the other versions", async () => {
  const used = await realpath(pathOf("node_modules/.bin/node"));

  // `npm install` may have linked another one; `npm ci` always links this one.
  expect(used).toBe(await realpath(pathOf("node_modules/node/bin/node")));
});

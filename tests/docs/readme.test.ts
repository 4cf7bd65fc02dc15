import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const execute = promisify(execFile);

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "perdure-readme-"));
});

afterAll(() => rm(directory, { recursive: true, force: true }));

test("README.md's workflow has twelve lines, runs as pasted, and doesn't charge again in a second process", async () => {
  const readme = await readFile(join(root, "README.md"), "utf8");
  const [, sample = ""] = /```ts\n([\s\S]*?)```/.exec(readme) ?? [];
  expect(sample.trimEnd().split("\n")).toHaveLength(12);
  const resolver = join(directory, "resolve.mjs");
  await writeFile(join(directory, "checkout.mts"), sample);
  await writeFile(join(directory, "package.json"), '{ "type": "commonjs" }'); // as `npm init` makes it
  await writeFile(
    resolver,
    `import { registerHooks } from "node:module";
    const perdure = ${JSON.stringify(new URL("../../src/index.ts", import.meta.url).href)};
    registerHooks({ resolve: (name, context, next) => next(name === "perdure" ? perdure : name, context) });`,
  );
  const run = async () => {
    const { stdout } = await execute(process.execPath, ["--import", resolver, "checkout.mts"], { cwd: directory });
    return stdout.trimEnd().split("\n");
  };

  expect(await run()).toEqual(["charging the card", "order-1 is confirmed"]);
  expect(await run()).toEqual(["order-1 is confirmed"]);
});

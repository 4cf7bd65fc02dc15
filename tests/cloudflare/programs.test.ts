import { execFile } from "node:child_process";
import { globSync, mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createWorkerFetch } from "../../src/cloudflare/index.ts";

const execute = promisify(execFile);
const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const REGISTER = new URL("../../src/cloudflare/register.ts", import.meta.url).href;
const OLDER = `data:text/javascript,import { register } from "node:module"; register(${JSON.stringify(
  new URL("../../src/cloudflare/resolve-hook.ts", import.meta.url).href,
)});`;
const TSX = import.meta.resolve("tsx");

async function run(...parameters: string[]): Promise<string> {
  const { NODE_OPTIONS: _options, ...env } = process.env;
  const { stdout } = await execute(process.execPath, parameters, { env }).catch(
    (error: { stdout: string; stderr: string }) => {
      throw new Error(`${error.stdout}\n${error.stderr}`);
    },
  );
  return stdout;
}

describe("a program for Cloudflare of several files", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "perdure-programs-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const runProgram = async (name: string, ...imports: string[]) => {
    const program = new URL(`./programs/${name}/index.ts`, import.meta.url).href;
    const flags = imports.flatMap((module) => ["--import", module]);
    return JSON.parse(await run(...flags, pathOf("./run-program.ts"), program, join(folder, `${name}.db`)));
  };

  test.each([
    ["extensionless", ["..", ".", "./lib", "./lib/", "./order", "./punctuation.marks", "./words.json"]],
    ["specifiers", ["./order.js", "./types.js", "./types.js"]],
  ])("runs as it was written, however a formatter arranges its imports: %s", async (name, specifiers) => {
    const files = globSync(pathOf(`./programs/${name}/**/*.ts`));
    const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
    const imported = texts.flatMap((text) => Array.from(text.matchAll(/ from "(\.[^"]*)";/g), ([, found]) => found));
    expect(imported.sort()).toEqual([...specifiers].sort());
  });

  test.each([
    ["of Node", REGISTER],
    ["of Nodes before 22.15", OLDER],
  ])("whose imports have no extensions runs unchanged with the loader %s", async (_, register) => {
    expect(await runProgram("extensionless", register)).toEqual({
      to: "ada@example.org",
      shared: true,
      result: "Hello, Ada!",
    });
  });

  test("whose imports say .js for .ts, and don't say type, runs unchanged, with a class as its Worker", async () => {
    expect(await runProgram("specifiers", REGISTER)).toEqual({ result: "Hello, Ada!" });
  });

  test("with parameter properties and enums runs unchanged with tsx", async () => {
    expect(await runProgram("properties", TSX, REGISTER)).toEqual({ result: "Hello, Ada!" });
  });
});

describe("perdure/register", () => {
  const importing = (specifier: string) =>
    run("--import", REGISTER, "--input-type=module", "--eval", `await import(${JSON.stringify(specifier)})`);

  test("says which of Cloudflare's modules there are when a file asks for another", async () => {
    await expect(importing("cloudflare:node")).rejects.toThrow(
      '"cloudflare:node" doesn\'t exist on Node: perdure/register provides cloudflare:workers',
    );
  });

  test("loads cloudflare:sockets, and says at the call what to use instead", async () => {
    const program = `const { connect } = await import("cloudflare:sockets"); connect("example.org:25");`;
    await expect(run("--import", REGISTER, "--input-type=module", "--eval", program)).rejects.toThrow("Use node:net");
  });

  test("leaves the error of a file that isn't there as Node gives it", async () => {
    await expect(importing("./nowhere")).rejects.toThrow("ERR_MODULE_NOT_FOUND");
  });
});

test("createWorkerFetch refuses what isn't a Worker", () => {
  for (const worker of [{}, null, undefined, { fetch: 5 }]) {
    expect(() => createWorkerFetch(worker as never, { env: {} })).toThrow(
      expect.objectContaining({ code: "options.invalid" }),
    );
  }
});

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";

const execute = promisify(execFile);
const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const REGISTER = new URL("../../src/cloudflare/register.ts", import.meta.url).href;

async function run(...parameters: string[]): Promise<string> {
  const { NODE_OPTIONS: _options, ...env } = process.env;
  const { stdout } = await execute(process.execPath, parameters, { env }).catch(
    (error: { stdout: string; stderr: string }) => {
      throw new Error(`${error.stdout}\n${error.stderr}`);
    },
  );
  return stdout;
}

describe.each(ENGINES)("files of Cloudflare's on $name", (engine) => {
  test("run unchanged, imports and all", async () => {
    const database = await engine.createEmpty();
    try {
      const said = await run("--import", REGISTER, pathOf("./run-samples.ts"), database.location);
      expect(JSON.parse(said)).toEqual({
        result: { stored: "bucket/orders.sql", rows: 3, known: true },
        told: "BUCKET/ORDERS.SQL BY ADA",
        status: "complete",
        failure: "There can't be fewer rows than none.",
        greeting: "Hello, Ada!",
      });
    } finally {
      await database.dispose();
    }
  });
});

test("the resolver of older Nodes, without hooks in the same thread, gives the same modules", async () => {
  const program = `
    import { register } from "node:module";
    register(${JSON.stringify(new URL("../../src/cloudflare/resolve-hook.ts", import.meta.url).href)});
    const { WorkflowEntrypoint, WorkflowStep } = await import("cloudflare:workers");
    const { NonRetryableError } = await import("cloudflare:workflows");
    console.log(typeof WorkflowEntrypoint, typeof NonRetryableError, typeof WorkflowStep);`;

  expect(await run("--input-type=module", "--eval", program)).toBe("function function undefined\n");
});

test("code that is written against Cloudflare's types compiles with ours", async () => {
  const compiler = pathOf("../../node_modules/@typescript/native/bin/tsc");

  expect(await run(compiler, "-p", pathOf("./samples/tsconfig.json"))).toBe("");
});

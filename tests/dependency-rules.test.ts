import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ICruiseResult } from "dependency-cruiser";
import { expect, test } from "vitest";

// `npm run check:dependencies` passes when it finds nothing, and would also pass if it couldn't read TypeScript.
// So the same rules run here on a small project that breaks each of them.

const repository = fileURLToPath(new URL("..", import.meta.url));

async function violations(files: Record<string, string>): Promise<string[]> {
  const project = await mkdtemp(join(tmpdir(), "perdure-dependencies-"));
  try {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(project, path)), { recursive: true });
      await writeFile(join(project, path), text);
    }
    const result = JSON.parse(await cruise(project)) as ICruiseResult;
    return result.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`).sort();
  } finally {
    await rm(project, { recursive: true });
  }
}

function cruise(project: string): Promise<string> {
  const program = join(repository, "node_modules/dependency-cruiser/bin/dependency-cruiser.mjs");
  const flags = ["--config", join(repository, ".dependency-cruiser.mjs"), "--output-type", "json", "src"];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [program, ...flags], { cwd: project, maxBuffer: 2 ** 26 }, (_error, output, problem) =>
      output === "" ? reject(new Error(problem)) : resolve(output),
    );
  });
}

function installed(name: string): Record<string, string> {
  return {
    [`node_modules/${name}/package.json`]: JSON.stringify({ name, version: "1.0.0", type: "module", main: "index.js" }),
    [`node_modules/${name}/index.js`]: "export default 1;",
  };
}

const surroundings = {
  "package.json": JSON.stringify({
    type: "module",
    dependencies: { "@standard-schema/spec": "*" },
    peerDependencies: { pg: "*" },
    devDependencies: { pg: "*", zod: "*" },
  }),
  ...installed("@standard-schema/spec"),
  ...installed("pg"),
  ...installed("zod"),
  "src/clock.ts": "export interface Clock { now(): number }",
  "src/store/engine.ts": "export interface Engine { name: string }",
  "src/store/sqlite/index.ts": "export const sqlite = 1;",
  "src/store/postgres/index.ts": "export const postgres = 1;",
  "src/app/start.ts": "export const start = 1;",
  "src/hooks/define.ts": "export interface Hook { name: string }",
};

test("dependencies that point inward are allowed", async () => {
  const found = await violations({
    ...surroundings,
    "src/hooks/trigger.ts": `
      import type { StandardSchemaV1 } from "@standard-schema/spec";
      import type { Clock } from "../clock.ts";
      import type { Engine } from "../store/engine.ts";
      export type Trigger = [StandardSchemaV1, Clock, Engine];`,
    "src/hooks/trigger.test.ts": `
      import "node:fs";
      import "zod";
      import { sqlite } from "../store/sqlite/index.ts";
      import { start } from "../app/start.ts";
      export default [sqlite, start];`,
    "src/store/postgres/claim.ts": `
      import "pg";
      import "node:net";
      import type { Engine } from "../engine.ts";
      export type Claim = Engine;`,
    "src/dispatchers/node.ts": `
      import "node:timers";
      import type { Hook } from "../hooks/define.ts";
      export type { Hook };`,
  });

  expect(found).toEqual([]);
});

test("the core may not reach a runtime, a driver, an engine or an edge, not even for a type", async () => {
  const found = await violations({
    ...surroundings,
    "src/queue/claim.ts": `
      import { readFile } from "node:fs/promises";
      import type { Pool } from "pg";
      import type { sqlite } from "../store/sqlite/index.ts";
      export { start } from "../app/start.ts";
      export type Worker = import("cloudflare:workers").Worker;
      export const later = () => import("better-sqlite3");
      export default [readFile] as [unknown, Pool?, typeof sqlite?];`,
    "src/store/engine-choice.ts": `import "./postgres/index.ts";`,
    "src/some-new-folder/anything.ts": `import "node:os";`,
  });

  expect(found).toEqual([
    "core-knows-no-edge: src/queue/claim.ts → src/app/start.ts",
    "core-knows-no-engine: src/queue/claim.ts → src/store/sqlite/index.ts",
    "core-knows-no-engine: src/store/engine-choice.ts → src/store/postgres/index.ts",
    "core-runs-everywhere: src/queue/claim.ts → better-sqlite3",
    "core-runs-everywhere: src/queue/claim.ts → cloudflare:workers",
    "core-runs-everywhere: src/queue/claim.ts → fs/promises",
    "core-runs-everywhere: src/queue/claim.ts → node_modules/pg/index.js",
    "core-runs-everywhere: src/some-new-folder/anything.ts → os",
    "no-unresolvable: src/queue/claim.ts → better-sqlite3",
  ]);
});

test("an engine may not reach an edge, a concept or the other engine", async () => {
  const found = await violations({
    ...surroundings,
    "src/store/sqlite/claim.ts": `
      import "../../app/start.ts";
      import "../postgres/index.ts";
      import type { Hook } from "../../hooks/define.ts";
      export type Claim = Hook;`,
  });

  expect(found).toEqual([
    "engines-know-no-concept: src/store/sqlite/claim.ts → src/hooks/define.ts",
    "engines-know-no-edge: src/store/sqlite/claim.ts → src/app/start.ts",
    "engines-stand-alone: src/store/sqlite/claim.ts → src/store/postgres/index.ts",
  ]);
});

test("tools for assistants may know only the HTTP API, and the SDK", async () => {
  const found = await violations({
    ...surroundings,
    "src/errors.ts": "export const code = 1;",
    "src/http/handler.ts": "export const handler = 1;",
    "src/mcp/tools.ts": `import "node:http"; import "../app/start.ts"; import "../errors.ts"; import "../http/handler.ts";`,
  });

  expect(found).toEqual([
    "mcp-knows-only-http: src/mcp/tools.ts → http",
    "mcp-knows-only-http: src/mcp/tools.ts → src/app/start.ts",
  ]);
});

test("a file of the HTTP edge may not import a runtime, a driver, an engine or another edge", async () => {
  const found = await violations({
    ...surroundings,
    "src/http/node.ts": `import "node:http"; import "../app/start.ts";`,
    "src/http/handler.ts": `
      import "node:http";
      import "pg";
      import "../store/sqlite/index.ts";
      import type { Hook } from "../hooks/define.ts";
      export type Handler = Hook;`,
  });

  expect(found).toEqual([
    "http-knows-no-other-edge: src/http/handler.ts → src/store/sqlite/index.ts",
    "http-knows-no-other-edge: src/http/node.ts → src/app/start.ts",
    "http-runs-everywhere: src/http/handler.ts → http",
    "http-runs-everywhere: src/http/handler.ts → node_modules/pg/index.js",
  ]);
});

test("published code may not need what isn't published with it", async () => {
  const found = await violations({
    ...surroundings,
    "examples/demo.ts": "export const demo = 1;",
    "src/app/start.test.ts": "export const fixture = 1;",
    "src/app/perdure.ts": `
      import "zod";
      import "./start.test.ts";
      import "../../examples/demo.ts";`,
  });

  expect(found).toEqual([
    "published-code-declares-its-packages: src/app/perdure.ts → node_modules/zod/index.js",
    "published-code-stands-alone: src/app/perdure.ts → examples/demo.ts",
    "published-code-stands-alone: src/app/perdure.ts → src/app/start.test.ts",
  ]);
});

test("files may not need each other in a circle", async () => {
  const found = await violations({
    ...surroundings,
    "src/queue/lease.ts": `import "./claim.ts"; export interface Lease { token: string }`,
    "src/queue/claim.ts": `import type { Lease } from "./lease.ts"; export type Claim = Lease;`,
  });

  expect(found).toEqual(["no-cycle: src/queue/claim.ts → src/queue/lease.ts"]);
});

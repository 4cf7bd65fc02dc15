import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { globSync } from "node:fs";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { root } from "../../scripts/entry-points.ts";
import { installPackage } from "../support/install-package.ts";
import { waitUntil } from "../support/wait-until.ts";

const execute = promisify(execFile);

/** The parts of a server that differ from one example to the other: how to make a listener of what it gives. */
const SERVERS = {
  "http-node": "createNodeServer(app, token)",
  "http-express": "createServer(createExpressServer(app, token))",
  "http-koa": "createServer(createKoaServer(app, token).callback())",
  "http-fastify":
    "await (async () => { const one = createFastifyServer(app, token); await one.ready(); return one.server; })()",
  "http-hono": "createServer(getRequestListener(createHonoServer(app, token).fetch))",
} as const;

const SECRET = "a-secret-that-no-caller-guesses";
const USED = ["express", "fastify", "hono", "koa", "@hono/node-server", "@koa/bodyparser"];
const TYPES = ["@types/node", "@types/express", "@types/koa", "undici-types"];

let project: string;
let child: ChildProcess | undefined;

beforeAll(async () => {
  const installed = await installPackage([...USED, ...TYPES]);
  ({ project } = installed);
  // Node runs no TypeScript in node_modules, so users run copies.
  await cp(join(installed.directory, "examples"), project, { recursive: true });
});

afterEach(async () => {
  if (child?.exitCode === null && child.signalCode === null && child.kill("SIGKILL")) await once(child, "exit");
});

test("every example imports the package, and none of its sources", async () => {
  for (const file of globSync("*.ts", { cwd: project })) {
    expect(await readFile(join(project, file), "utf8"), file).not.toMatch(/from "\.\.\//);
  }
});

test("the types of every example hold against those of the package", async () => {
  const compilerOptions = {
    module: "nodenext",
    target: "esnext",
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    types: ["node"],
  };
  const onNode = globSync("*.ts", { cwd: project }).filter((file) => file !== "http-worker.ts");
  await writeFile(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: onNode }));
  const compiler = join(root, "node_modules/@typescript/native/bin/tsc");
  const { stdout } = await execute(process.execPath, [compiler, "-p", project]).catch((error) => error);

  expect(stdout).toBe("");
});

describe("an example that is a program", () => {
  test("the shop runs to its end, with its purchase, its trip and its overview", async () => {
    const { stdout } = await execute(process.execPath, ["demo.ts"], { cwd: project });

    expect(stdout).toMatch(/is bought, 1760 € left/);
    expect(stdout).toMatch(/its rollback is complete/);
    expect(stdout).toMatch(/everything that was accepted has been done/);
  });

  test("the import of warehouses runs to its end", async () => {
    const env = { ...process.env, PAGE_MS: "1" };
    const { stdout } = await execute(process.execPath, ["warehouses.ts"], { cwd: project, env });

    expect(stdout).toMatch(/60 items, imported 60 times\n$/);
  });
});

describe("an example that is a server", () => {
  test.each(Object.entries(SERVERS))("%s serves the application to callers with the token", async (name, server) => {
    const program = `import { createServer } from "node:http";
      import { getRequestListener } from "@hono/node-server";
      import { defineWorkflow, perdure } from "perdure";
      import { ${server.match(/create\w+Server(?=\(app)/)?.[0]} } from "./${name}.ts";
      const approval = defineWorkflow({ name: "approval" }, async () => "yes");
      const app = await perdure({ database: ":memory:", workflows: { approval } });
      const token = "a-token-that-nobody-guesses";
      const server = ${server};
      server.listen(0, "127.0.0.1", () => console.log(server.address().port));`;
    await writeFile(join(project, `run-${name}.mjs`), program);
    let [output, errors] = ["", ""];
    child = spawn(process.execPath, [`run-${name}.mjs`], { cwd: project, stdio: ["ignore", "pipe", "pipe"] });
    child.stdout?.on("data", (text) => (output += String(text)));
    child.stderr?.on("data", (text) => (errors += String(text)));
    const port = await waitUntil(`${name} listens`, () => {
      if (child?.exitCode !== null) throw new Error(errors);
      return output.trim();
    });

    const ask = (token: string) =>
      fetch(`http://127.0.0.1:${port}/perdure/workflows`, { headers: { authorization: `Bearer ${token}` } });
    const answer = await ask("a-token-that-nobody-guesses");

    expect(await answer.json()).toEqual({ workflows: [expect.objectContaining({ name: "approval" })] });
    expect((await ask("another-token")).status).toBe(401);
  });

  test("http-worker serves an object in a Worker", async () => {
    const { outputFiles } = await build({
      entryPoints: [join(project, "http-worker.ts")],
      bundle: true,
      write: false,
      format: "esm",
      conditions: ["workerd"],
      external: ["cloudflare:*"],
    });
    const worker = new Miniflare(
      convertV4MiniflareOptions({
        modules: true,
        script: outputFiles[0]?.text as string,
        compatibilityDate: "2026-01-01",
        bindings: { SECRET },
        durableObjects: { TENANTS: { className: "Tenant", useSQLite: true } },
      }),
    );
    try {
      const signature = createHmac("sha256", SECRET).update("acme").digest("hex");
      const ask = (token: string) =>
        worker.dispatchFetch("http://localhost/perdure/workflows", { headers: { authorization: `Bearer ${token}` } });
      const answer = await ask(`acme.${signature}`);

      expect(await answer.json()).toEqual({ workflows: [expect.objectContaining({ name: "approval" })] });
      expect((await ask("acme.0")).status).toBe(401);
    } finally {
      await worker.dispose();
    }
  });
});

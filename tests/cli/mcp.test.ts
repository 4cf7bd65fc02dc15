import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { root } from "../../scripts/entry-points.ts";
import { perdure } from "../../src/app/perdure.ts";
import { bearerToken, createHttpHandler } from "../../src/http/index.ts";
import { toNodeHandler } from "../../src/http/node.ts";
import { LogBook } from "../hooks/support/log-book.ts";
import { workflows } from "../http/support/sample-app.ts";
import { ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { runInPipe } from "./support/program.ts";

const TOKEN = "a-token-of-the-command-line";
const FROM_SOURCE = ["--import", join(root, "scripts/from-source.ts")];
const PERDURE = join(root, "src/cli/perdure.ts");
const directory = mkdtempSync(join(tmpdir(), "perdure-mcp-"));
const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A client of the SDK that has started the command, as an assistant would. */
async function connect(parameters: readonly string[], env: Record<string, string> = {}) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...FROM_SOURCE, PERDURE, "mcp", ...parameters],
    env: { PATH: process.env["PATH"] ?? "", TMPDIR: tmpdir(), ...env },
    cwd: directory,
    stderr: "pipe",
  });
  let errors = "";
  transport.stderr?.on("data", (text: Buffer) => {
    errors += String(text);
  });
  const client = new Client({ name: "test", version: "1" });
  const broken: Error[] = [];
  client.onerror = (error) => broken.push(error);
  await client.connect(transport);
  ends.push(() => client.close());
  const ask = async (name: string, given: Record<string, unknown> = {}): Promise<Record<string, unknown>> => {
    const { content, isError = false } = await client.callTool({ name, arguments: given });
    const [{ text }] = content as [{ text: string }];
    return { ...(JSON.parse(text) as Record<string, unknown>), isError };
  };
  return { client, ask, broken, errors: () => errors, pid: transport.pid as number };
}

const ONE = { workflowName: "approval", instanceId: "one" };

describe.each(ENGINES)("perdure mcp on $dialect", (engine) => {
  /** An application with an instance that waits, and its database. */
  async function start() {
    const database = await engine.create();
    ends.push(() => database.dispose());
    const app = await perdure({ database: database.location as string, workflows, logger: new LogBook() });
    ends.push(() => app.stop({ deadlineMs: 0 }));
    await app.workflows.approval.create({ id: "one", params: { card: "s3cret" } });
    await (await app.workflows.echo.create({ id: "two", params: "s3cret" })).result();
    return { app, location: database.location as string };
  }

  test("lets a client look, and change nothing", async () => {
    const { location } = await start();
    const { client, ask, broken, errors } = await connect(["--database", location]);

    expect((await client.listTools()).tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
    expect(await ask("readStatistics")).toMatchObject({ instances: { total: { total: 2 } } });
    const two = await ask("getInstance", { workflowName: "echo", instanceId: "two" });
    expect(two).toMatchObject({ status: "complete", output: "[REDACTED]" });
    expect(await ask("terminateInstance", ONE)).toMatchObject({ isError: true, code: "mcp.read_only" });
    expect(await ask("getInstance", { ...ONE, instanceId: "no" })).toMatchObject({
      isError: true,
      code: "instance.not_found",
    });
    await client.close();
    expect([broken, errors()]).toEqual([[], ""]);
  });

  test("lets a client act and see values, if options allow it", async () => {
    const { app, location } = await start();
    const { ask } = await connect(["--actions", "--payloads"], { PERDURE_DATABASE: location });

    const two = await ask("getInstance", { workflowName: "echo", instanceId: "two" });
    expect(two).toMatchObject({ output: "s3cret" });
    expect(await ask("sendEvent", { ...ONE, type: "approved", payload: 5 })).toEqual({ isError: false, done: true });
    expect(await (await app.workflows.approval.get("one")).result()).toBe(5);
  });
});

describe("perdure mcp", () => {
  async function listen(handle: Parameters<typeof createServer>[1]): Promise<string> {
    const server: Server = createServer(handle);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    ends.push(async () => {
      server.close();
      server.closeAllConnections();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/perdure`;
  }

  test("asks a server with its token, which hides values unless they are allowed", async () => {
    const app = await perdure({ database: ":memory:", workflows, logger: new LogBook() });
    ends.push(() => app.stop({ deadlineMs: 0 }));
    await (await app.workflows.echo.create({ id: "two", params: "s3cret" })).result();
    const handler = createHttpHandler(app, { basePath: "/perdure", authorize: bearerToken(TOKEN) });
    const url = await listen(toNodeHandler(handler));
    const two = { workflowName: "echo", instanceId: "two" };

    const hidden = await connect(["--server", url], { PERDURE_TOKEN: TOKEN });
    expect(await hidden.ask("getInstance", two)).toMatchObject({ status: "complete", output: "[REDACTED]" });
    const shown = await connect(["--server", url, "--payloads", "--actions"], { PERDURE_TOKEN: TOKEN });
    expect(await shown.ask("getInstance", two)).toMatchObject({ output: "s3cret" });
    expect(await shown.ask("deleteInstance", two)).toEqual({ isError: false, done: true });
    const stranger = await connect(["--server", url], { PERDURE_TOKEN: "another-token-of-somebody" });
    expect(await stranger.ask("readStatistics")).toMatchObject({ isError: true, code: "http.unauthenticated" });
  });

  test("passes on no answer of a server that would not hide values, or that isn't one of Perdure", async () => {
    const old = await listen((_request, response) => {
      response.setHeader("content-type", "application/json").end('{"output":"s3cret"}');
    });
    const other = await listen((_request, response) => {
      response.setHeader("content-type", "text/html").end("<h1>s3cret</h1>");
    });
    const answers = [
      await (await connect(["--server", old])).ask("getInstance", ONE),
      await (await connect(["--server", other])).ask("getInstance", ONE),
      await (await connect(["--server", "http://127.0.0.1:1/perdure"])).ask("getInstance", ONE),
    ];

    expect(answers.map(({ code }) => code)).toEqual([
      "mcp.payloads_not_hidden",
      "client.unexpected_answer",
      "client.unreachable",
    ]);
    expect(JSON.stringify(answers)).not.toContain("s3cret");
  });

  test("writes nothing but the protocol to its standard output, whatever an application writes", async () => {
    const database = join(directory, "app.db");
    await (await perdure({ database, workflows, logger: new LogBook() })).stop();
    const code = `import { defineWorkflow } from ${JSON.stringify(join(root, "src/index.ts"))};
      console.log("the application's own words");
      process.stdout.write("and others\\n");
      const greeting = defineWorkflow({ name: "greeting" }, async () => "hello");
      export default { database: ${JSON.stringify(database)}, workflows: { greeting } };`;
    writeFileSync(join(directory, "app.ts"), code);
    const { ask, broken, errors } = await connect(["--app", "app.ts"]);

    expect(await ask("listWorkflows")).toMatchObject({ workflows: [{ name: "greeting" }] });
    await waitUntil("the words arrive", () => /the application's own words\nand others/.test(errors()));
    expect(broken).toEqual([]);
  });

  test("ends on SIGTERM", async () => {
    const { client, pid } = await connect(["--server", "http://127.0.0.1:1/perdure"]);
    const closed = new Promise<void>((resolve) => {
      client.onclose = resolve;
    });
    process.kill(pid, "SIGTERM");

    await closed;
  });

  test("answers what it was asked before its input ends, and ends", async () => {
    const database = await (ENGINES[0] as (typeof ENGINES)[number]).create();
    ends.push(() => database.dispose());
    const app = await perdure({ database: database.location as string, workflows, logger: new LogBook() });
    await app.stop();
    const program = runInPipe(["mcp", "--database", database.location as string], { cwd: directory });
    const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "pipe", version: "1" } };
    const messages = [
      { jsonrpc: "2.0", id: 1, method: "initialize", params: hello },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "readStatistics" } },
    ];
    program.type(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));

    expect(await program.ended).toBe(0);
    expect(program.output()).toMatch(/"id":1\}\n.*hooks.*"id":2\}\n$/s);
  });

  test("fails with the reason if its database isn't there, or the SDK isn't installed", async () => {
    const missing = runInPipe(["mcp", "--database", "missing.db"], { cwd: directory });
    expect(await missing.ended).toBe(4);
    expect(missing.output()).toMatch(/There is no file missing\.db/);

    const hook = `import { registerHooks } from "node:module";
      registerHooks({ resolve(specifier, context, next) {
        if (!specifier.startsWith("@modelcontextprotocol/")) return next(specifier, context);
        throw Object.assign(new Error("Cannot find package '@modelcontextprotocol/sdk'"), { code: "ERR_MODULE_NOT_FOUND" });
      } });`;
    const node = ["--import", `data:text/javascript,${encodeURIComponent(hook)}`];
    const bare = runInPipe(["mcp", "--database", "missing.db"], { cwd: directory, node });
    expect(await bare.ended).toBe(1);
    expect(bare.output()).toMatch(
      /needs the package @modelcontextprotocol\/sdk.*\n.*npm install @modelcontextprotocol\/sdk/,
    );
  });
});

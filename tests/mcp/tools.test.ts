import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { afterEach, describe, expect, test } from "vitest";
import { type AuditEntry, bearerToken } from "../../src/http/index.ts";
import { ROUTES } from "../../src/http/routes/index.ts";
import { createMcpServer, type McpServerOptions } from "../../src/mcp/index.ts";
import { hooks, workflows } from "../http/support/sample-app.ts";
import { useHttp } from "../http/support/use-http.ts";
import { ENGINES, type TestEngine } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";

const TOKEN = "a-token-that-nobody-guesses";
const clients: Client[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

type Application = Parameters<typeof createMcpServer>[0];

/** A client of the SDK that is connected to a server of its own. */
async function connect(app: Application, options: McpServerOptions = {}): Promise<ToolClient> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  await createMcpServer(app, options).connect(far);
  const client = new Client({ name: "test", version: "1" });
  await client.connect(near);
  clients.push(client);
  return new ToolClient(client);
}

class ToolClient {
  readonly client: Client;

  constructor(client: Client) {
    this.client = client;
  }

  async list() {
    return (await this.client.listTools()).tools;
  }

  /** The value of an answer. Throws for one that is an error. */
  async call(name: string, given: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    const { value, isError } = await this.ask(name, given);
    if (isError) throw new Error(JSON.stringify(value));
    return value;
  }

  /** The error that a call is answered with. */
  async refusal(name: string, given: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    const { value, isError } = await this.ask(name, given);
    if (!isError) throw new Error(`It was done: ${JSON.stringify(value)}`);
    return value;
  }

  async ask(name: string, given: Record<string, unknown>) {
    const { content, isError = false } = await this.client.callTool({ name, arguments: given });
    const [{ text }] = content as [{ text: string }];
    return { value: JSON.parse(text) as Record<string, unknown>, isError };
  }
}

/** The options are mistakes that the types would show. */
const create = (app: unknown, options?: unknown) => () =>
  createMcpServer(app as Application, options as McpServerOptions);

describe("the tools of a server", () => {
  const subject = useHttp(ENGINES[0] as TestEngine);

  test("need an application, and options without a mistake", async () => {
    const app = await subject.start({});

    expect(create({})).toThrow(/takes an application made by perdure\(\)/);
    expect(create(app, { action: true })).toThrow(/createMcpServer has no option "action"; it takes actions, payloads/);
    expect(create(app, { actions: "yes" })).toThrow(/createMcpServer: actions must be true or false/);
    expect(create(app, { authorize: true })).toThrow(/authorize/);
  });

  test("are asked over HTTP with the headers of the request, which a policy sees", async () => {
    const app = await subject.start({ workflows });
    const options = { authorize: bearerToken(TOKEN) };
    /** As a server without sessions: each request has a server of its own. */
    const serve = async (request: Request) => {
      const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
      await createMcpServer(app, options).connect(transport);
      return transport.handleRequest(request);
    };
    const ask = async (token: string) => {
      const client = new Client({ name: "test", version: "1" });
      const requestInit = { headers: { authorization: `Bearer ${token}`, "idempotency-key": "of-the-message" } };
      const fetch = (url: string | URL, init?: RequestInit) => serve(new Request(url, init));
      await client.connect(new StreamableHTTPClientTransport(new URL("http://app.test/mcp"), { fetch, requestInit }));
      clients.push(client);
      return new ToolClient(client);
    };

    expect(await (await ask(TOKEN)).call("readStatistics")).toMatchObject({ instances: { total: { total: 0 } } });
    expect(await (await ask("another-token-of-somebody")).refusal("readStatistics")).toMatchObject({
      code: "http.unauthenticated",
    });
  });

  test("are the routes of the HTTP API that read, unless actions are allowed", async () => {
    const app = await subject.start({ workflows, hooks });
    const reading = await (await connect(app)).list();
    const all = await (await connect(app, { actions: true })).list();
    const elsewhere = ["subscribe", "completeToken", "readLiveness", "readReadiness"];

    expect(all.map(({ name }) => name).sort()).toEqual(
      ROUTES.map(({ name }) => name)
        .filter((name) => !elsewhere.includes(name))
        .sort(),
    );
    expect(reading.map(({ name }) => name)).toEqual(
      ROUTES.filter(({ method, name }) => method === "GET" && !elsewhere.includes(name)).map(({ name }) => name),
    );
  });

  test("say whether they read, change or destroy", async () => {
    const app = await subject.start({ workflows, hooks });
    const tools = await (await connect(app, { actions: true })).list();
    const hints = new Map(tools.map(({ name, annotations }) => [name, annotations]));

    expect(hints.get("listHooks")).toMatchObject({ readOnlyHint: true, destructiveHint: false });
    for (const name of ["createInstance", "sendEvent", "pauseInstance", "resumeSchedule", "redriveHooks"]) {
      expect(hints.get(name), name).toMatchObject({ readOnlyHint: false, destructiveHint: false });
    }
    for (const name of ["deleteInstance", "terminateInstance", "restartInstance", "discardHooks", "releaseSubject"]) {
      expect(hints.get(name), name).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    }
  });

  test("describe their arguments as the routes check them", async () => {
    const app = await subject.start({ workflows, hooks });
    const tools = await (await connect(app, { actions: true })).list();
    const schemaOf = (name: string) => tools.find((tool) => tool.name === name)?.inputSchema;

    expect(schemaOf("sendEvent")).toMatchObject({
      type: "object",
      required: ["workflowName", "instanceId", "type"],
      additionalProperties: false,
      properties: { payload: {}, idempotencyKey: { type: "string" } },
    });
    expect(schemaOf("listHooks")?.properties).toMatchObject({ status: { enum: expect.arrayContaining(["failed"]) } });
    expect(schemaOf("cancelHooks")).toMatchObject({
      required: [],
      properties: { id: { type: "string" }, name: { type: "string" }, key: { type: "string" } },
    });
    for (const { name, inputSchema, title } of tools) {
      expect(JSON.stringify(inputSchema), name).not.toContain("$ref");
      expect(title, name).toMatch(/^[A-Z][a-z ]+$/);
    }
  });

  test("that don't exist are refused by the protocol", async () => {
    const app = await subject.start({ workflows, hooks });
    const tools = await connect(app, { actions: true });

    await expect(tools.ask("dropTables", {})).rejects.toThrow(/There is no such tool/);
    await expect(tools.ask("constructor", {})).rejects.toThrow(/There is no such tool/);
    await expect(tools.ask("completeToken", { token: "x" })).rejects.toThrow(/There is no such tool/);
  });
});

describe.each(ENGINES)("tools on $dialect", (engine) => {
  const subject = useHttp(engine);

  test("find instances, read them, and say why they wait", async () => {
    const app = await subject.start({ workflows });
    await app.workflows.approval.create({ id: "one", labels: { tenant: "acme" } });
    await app.workflows.approval.create({ id: "two", labels: { tenant: "other" } });
    const tools = await connect(app);
    const one = { workflowName: "approval", instanceId: "one" };
    await waitUntil("it waits", async () => (await tools.call("getInstance", one))["status"] === "waiting");

    const filter = { label: ["tenant=acme"], status: ["waiting", "running"], limit: 5, order: "oldest" };
    const { instances } = await tools.call("listAllInstances", filter);
    expect(instances).toEqual([expect.objectContaining({ id: "one", labels: { tenant: "acme" } })]);
    expect(await tools.call("explainInstance", one)).toMatchObject({ reason: { reason: "waitingForEvent" } });
    const { entries } = (await tools.call("readHistory", one)) as { entries: unknown[] };
    expect(entries.length).toBeGreaterThan(1);
    expect(await tools.call("readStatistics")).toMatchObject({ instances: { total: { total: 2 } } });
  });

  test("change nothing unless actions are allowed", async () => {
    const app = await subject.start({ workflows });
    await app.workflows.sleeper.create({ id: "one" });
    const one = { workflowName: "sleeper", instanceId: "one" };
    const audited: AuditEntry[] = [];
    const onAudit = (entry: AuditEntry) => audited.push(entry);

    expect(await (await connect(app, { onAudit })).refusal("terminateInstance", one)).toMatchObject({
      code: "mcp.read_only",
    });
    const tools = await connect(app, { actions: true, onAudit });
    expect(await tools.call("terminateInstance", { ...one, rollback: true })).toEqual({ done: true });
    await waitUntil("it is terminated", async () => (await tools.call("getInstance", one))["status"] === "terminated");
    expect(audited).toMatchObject([{ action: "terminateInstance", outcome: "done" }]);
  });

  test("create, send events, and take effect once for each idempotency key", async () => {
    const app = await subject.start({ workflows });
    const tools = await connect(app, { actions: true, payloads: true });
    const created = { workflowName: "approval", params: { total: 3 }, idempotencyKey: "key-1" };

    const { id } = await tools.call("createInstance", created);
    expect(await tools.call("createInstance", created)).toMatchObject({ id });
    const one = { workflowName: "approval", instanceId: id };
    await tools.call("sendEvent", { ...one, type: "approved", payload: { by: "Ada" } });
    const done = await waitUntil("it completes", async () => {
      const state = await tools.call("getInstance", one);
      return state["status"] === "complete" && state;
    });
    expect(done["output"]).toEqual({ by: "Ada" });
    const { instances } = (await tools.call("listInstances", { workflowName: "approval" })) as { instances: unknown[] };
    expect(instances.length).toBe(1);
  });

  test("hide users' values unless payloads are allowed", async () => {
    const app = await subject.start({ workflows, hooks });
    const instance = await app.workflows.echo.create({ id: "one", params: { card: "s3cret" } });
    await instance.result();
    await (await app.workflows.failing.create({ id: "two", params: "s3cret" })).result().catch(() => {});
    await app.hooks.breaks.trigger({ text: "s3cret" });
    await waitUntil("it is a dead letter", async () => (await app.durableHooks.statistics()).failed === 1);
    const hidden = await connect(app);
    const shown = await connect(app, { payloads: true });
    const replaced = await connect(app, { payloads: true, redact: () => "removed" });
    const one = { workflowName: "echo", instanceId: "one" };
    const answers = async (tools: ToolClient) =>
      JSON.stringify([
        await tools.call("getInstance", one),
        await tools.call("readHistory", one),
        await tools.call("listAllInstances"),
        await tools.call("explainInstance", { workflowName: "failing", instanceId: "two" }),
        await tools.call("listHooks", { status: "failed" }),
      ]);

    expect(await answers(hidden)).not.toContain("s3cret");
    expect((await answers(shown)).split("s3cret").length).toBeGreaterThan(5);
    expect(await answers(replaced)).not.toContain("s3cret");
    expect(await answers(replaced)).toContain("removed");
    expect(await hidden.refusal("listHooks", { error: "s3cret" })).toMatchObject({ code: "http.invalid_request" });
  });

  test("answer a call that isn't accepted with the code and the reason", async () => {
    const app = await subject.start({ workflows, hooks });
    const tools = await connect(app, { actions: true });

    expect(await tools.refusal("getInstance", { workflowName: "approval", instanceId: "none" })).toMatchObject({
      code: "instance.not_found",
    });
    expect(await tools.refusal("listHooks", { state: "failed" })).toMatchObject({
      code: "http.invalid_request",
      details: [{ path: "arguments", message: expect.stringMatching(/has no field "state"; it takes status, name/) }],
    });
    expect(await tools.refusal("listHooks", { limit: 0 })).toMatchObject({
      code: "http.invalid_request",
      details: [{ path: "arguments.limit", message: "must be 1 to 1000" }],
    });
    expect(await tools.refusal("getInstance", { workflowName: "approval" })).toMatchObject({
      details: [{ path: "arguments", message: "must have the field instanceId" }],
    });
    expect(await tools.refusal("cancelHooks", { id: "x", key: "y" })).toMatchObject({ code: "http.invalid_request" });
    expect(await tools.refusal("createInstance", { workflowName: "approval", idempotencyKey: "é" })).toMatchObject({
      code: "http.invalid_request",
    });
    const large = "x".repeat(3 * 1024 * 1024);
    expect(await tools.refusal("createInstance", { workflowName: "approval", params: large })).toMatchObject({
      code: "http.body_too_large",
    });
  });

  test("take names as they are, and never as part of another path", async () => {
    const app = await subject.start({ workflows, hooks });
    const tools = await connect(app, { actions: true });

    for (const hookId of [".", ".."]) {
      expect(await tools.refusal("getHook", { hookId })).toMatchObject({ message: `hookId can't be "${hookId}".` });
    }
    for (const hookId of ["a/b", "../stats", "%2e%2e", "a?limit=1", "a#b", "\ud800"]) {
      expect(await tools.refusal("getHook", { hookId }), hookId).toMatchObject({ code: "hook.not_found" });
    }
  });

  test("keep to what the application's policy allows", async () => {
    const app = await subject.start({ workflows });
    await app.workflows.approval.create({ id: "one", labels: { tenant: "acme" } });
    await app.workflows.approval.create({ id: "two", labels: { tenant: "other" } });
    const authorize = { read: () => ({ allow: true, labels: { tenant: "acme" } }) };
    const tools = await connect(app, { actions: true, authorize });

    const { instances } = (await tools.call("listAllInstances")) as { instances: { id: string }[] };
    expect(instances.map(({ id }) => id)).toEqual(["one"]);
    const two = { workflowName: "approval", instanceId: "two" };
    expect(await tools.refusal("getInstance", two)).toMatchObject({ code: "instance.not_found" });
    expect(await tools.refusal("pauseInstance", two)).toMatchObject({ code: "http.forbidden" });
  });
});

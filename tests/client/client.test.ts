import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { createClient } from "../../src/client/index.ts";
import { bearerToken, createHttpHandler, type HttpHandler } from "../../src/http/index.ts";
import { toNodeHandler } from "../../src/http/node.ts";
import { defineWorkflow, type WorkflowEvent, type WorkflowInstanceEvent } from "../../src/index.ts";
import { useHttp } from "../http/support/use-http.ts";
import { ENGINES } from "../support/engines.ts";

const TOKEN = "a-token-that-nobody-guesses";

const checkout = defineWorkflow(
  {
    name: "checkout-workflow",
    input: z.object({ total: z.number() }),
    events: { approved: z.object({ by: z.string() }) },
  },
  async (event, step) => {
    const charge = await step.do("charge", async () => ({ amount: event.payload.total, at: new Date(5) }));
    const { payload } = await step.waitForEvent("approval", { type: "approved" });
    return { charge, by: payload.by, parts: new Map([["a", 1n]]) };
  },
);

const echo = defineWorkflow({ name: "echo" }, async (event: WorkflowEvent<unknown>) => event.payload);
const failing = defineWorkflow({ name: "failing" }, async () => {
  throw new RangeError("out of range");
});
const workflows = { checkout, echo, failing };

type App = { workflows: Awaited<ReturnType<typeof start>>["workflows"] };
const start = async (subject: ReturnType<typeof useHttp>) => subject.start({ workflows });

/** Loses what it is told to lose, on the way there or on the way back. */
class Network {
  readonly #handler: HttpHandler;
  readonly requests: string[] = [];
  lose: (request: Request) => "request" | "answer" | null = () => null;

  constructor(handler: HttpHandler) {
    this.#handler = handler;
  }

  readonly fetch = async (request: Request): Promise<Response> => {
    this.requests.push(`${request.method} ${new URL(request.url).pathname.replace("/perdure", "")}`);
    const lost = this.lose(request);
    if (lost === "request") throw new TypeError("fetch failed");
    const response = await this.#handler(request);
    if (lost === "answer") {
      await response.text();
      throw new TypeError("fetch failed");
    }
    return response;
  };

  /** The first that is one of these gets no answer. */
  loseAnswersOf(...paths: RegExp[]): void {
    const left = new Set(paths);
    this.lose = ({ method, url }) => {
      const fitting = [...left].find((path) => path.test(`${method} ${new URL(url).pathname}`));
      if (fitting === undefined) return null;
      left.delete(fitting);
      return "answer";
    };
  }
}

describe.each(ENGINES.filter(({ name }) => name !== "better-sqlite3"))("a client on $name", (engine) => {
  const subject = useHttp(engine);
  const servers: { close(): void; closeAllConnections(): void }[] = [];

  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  /** Over a real network. */
  async function connect() {
    const app = await start(subject);
    const handler = createHttpHandler(app, {
      basePath: "/perdure",
      authorize: bearerToken(TOKEN),
      logger: subject.logs,
    });
    const server = createServer(toNodeHandler(handler));
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/perdure/`;
    return { app, client: createClient<App>({ baseUrl, token: TOKEN }), baseUrl };
  }

  /** Over a network that a test breaks. */
  async function connectBadly() {
    const app = await start(subject);
    const handler = createHttpHandler(app, { basePath: "/perdure", authorize: () => true, logger: subject.logs });
    const network = new Network(handler);
    const client = createClient<App>({ baseUrl: "http://localhost/perdure", fetch: network.fetch });
    return { app, client, network };
  }

  test("has the shape and the types of the application, and gives values as they were", async () => {
    const { app, client } = await connect();
    const order = await client.workflows.checkout.create({ id: "order-1", params: { total: 12 } });
    const result = order.result({ timeout: "1 minute" });
    await order.sendEvent({ type: "approved", payload: { by: "Ada" } });

    expectTypeOf(result).resolves.toEqualTypeOf<{
      charge: { amount: number; at: Date };
      by: string;
      parts: Map<string, bigint>;
    }>();
    expect(await result).toEqual({ charge: { amount: 12, at: new Date(5) }, by: "Ada", parts: new Map([["a", 1n]]) });
    expect(await order.status()).toEqual(await (await app.workflows.checkout.get("order-1")).status());
    const history = await (await app.workflows.checkout.get("order-1")).history();
    expect(await order.history()).toEqual(history);
    const { instances, cursor } = await client.workflows.checkout.list({
      status: "complete",
      createdFrom: new Date(0),
      limit: 5,
    });
    expect([instances.map(({ id, createdAt }) => [id, createdAt instanceof Date]), cursor]).toEqual([
      [["order-1", true]],
      null,
    ]);
    if (Math.random() > 1) {
      // @ts-expect-error The params are those of the workflow.
      await client.workflows.checkout.create({ params: { total: "12" } });
      // @ts-expect-error So are the workflows.
      await client.workflows.unknown.create();
    }
  });

  test("labels, finds, counts, batches and makes sure of instances as the application does", async () => {
    const { app, client } = await connect();
    const { echo } = client.workflows;
    const made = await echo.createBatch([
      { id: "a", params: 1, labels: { tenant: "x" } },
      { id: "b", params: new Date(5) },
    ]);
    expect(made.map(({ id }) => id)).toEqual(["a", "b"]);
    expect(await (await echo.get("b")).result()).toEqual(new Date(5));
    expect(await echo.createBatch([{ id: "a" }, { id: "c" }])).toHaveLength(1);
    const { created, errors } = await echo.createBatch({ instances: [{ id: "a" }, { id: "not valid!" }, { id: "d" }] });
    expect(created.map(({ id }) => id)).toEqual(["d"]);
    expect(errors).toMatchObject([
      { index: 0, id: "a", code: "instance.already_exists" },
      { index: 1, id: "not valid!" },
    ]);
    await expect(echo.createBatch([{ id: "not valid!" }])).rejects.toMatchObject({ name: "InvalidInputError" });
    const alike = await echo.createBatch({ count: 3, params: "same" });
    for (const instance of alike.created) expect(await instance.result()).toBe("same");
    for (const id of ["a", "c", "d"]) await (await echo.get(id)).result();

    const labelled = await echo.list({
      labels: { tenant: "x" },
      status: ["complete", "errored"],
      finishedFrom: new Date(0),
    });
    expect(labelled.instances.map(({ id, labels }) => [id, labels])).toEqual([["a", { tenant: "x" }]]);
    expect(await echo.counts()).toEqual(await app.workflows.echo.counts());
    expect(await client.instances.counts()).toEqual(await app.instances.counts());
    expect((await client.instances.list({ limit: 2 })).instances).toHaveLength(2);

    const again = await echo.restartOrCreate({ id: "a", params: 2 });
    expect([again.outcome, await again.instance.result()]).toEqual(["restarted", 2]);
    expect((await echo.restartOrCreate({ id: "a", when: "errored" })).outcome).toBe("unchanged");
    expect((await echo.restartOrCreate({ id: "new" })).outcome).toBe("created");
    expect(await echo.deleteBatch(["a", "nobody"])).toMatchObject({
      deleted: [{ id: "a" }],
      errors: [{ index: 1, id: "nobody", code: "instance.not_found" }],
    });
  });

  test("follows an instance, and comes back where it left", async () => {
    const { app, client } = await connect();
    const order = await client.workflows.checkout.create({ id: "order-1", params: { total: 1 } });
    const first: WorkflowInstanceEvent[] = [];
    for await (const event of await order.subscribe()) {
      first.push(event);
      if (event.type === "wait_started") break;
    }
    await order.sendEvent({ type: "approved", payload: { by: "Bob" } });
    const rest: WorkflowInstanceEvent[] = [];
    for await (const event of await order.subscribe({ cursor: first.at(-1)?.eventId as number })) rest.push(event);

    const all: WorkflowInstanceEvent[] = [];
    for await (const event of await (await app.workflows.checkout.get("order-1")).subscribe()) all.push(event);
    expect([...first, ...rest]).toEqual(all);
    expect(all.at(-1)?.type).toBe("workflow_completed");
    const again = await order.subscribe({ cursor: all.at(-1)?.eventId as number });
    expect(await again.next()).toEqual({ done: true, value: undefined });
  });

  test("throws what is thrown in process, with the same codes", async () => {
    const { client, baseUrl } = await connect();
    await expect(client.workflows.checkout.get("nobody")).rejects.toMatchObject({
      name: "NotFoundError",
      code: "instance.not_found",
    });
    await expect(client.workflows.checkout.create({ params: {} as never })).rejects.toMatchObject({
      code: "params.invalid",
    });
    await client.workflows.checkout.create({ id: "once", params: { total: 1 } });
    await expect(client.workflows.checkout.create({ id: "once", params: { total: 1 } })).rejects.toMatchObject({
      name: "ConflictError",
      code: "instance.already_exists",
    });
    const failed = await client.workflows.failing.create();
    await expect(failed.result()).rejects.toMatchObject({
      name: "WorkflowFailedError",
      cause: { name: "RangeError", message: "out of range" },
    });
    const ended = await client.workflows.checkout.create({ params: { total: 1 } });
    await ended.terminate();
    await expect(ended.result()).rejects.toMatchObject({ name: "WorkflowTerminatedError" });
    await expect(ended.pause()).rejects.toMatchObject({ code: "instance.finished" });
    const stranger = createClient<App>({ baseUrl, token: "another-token-entirely" });
    await expect(stranger.workflows.echo.create()).rejects.toMatchObject({ code: "http.unauthenticated" });
  });

  test("gives up waiting for a result when it is told to, and the instance goes on", async () => {
    const { client } = await connect();
    const order = await client.workflows.checkout.create({ params: { total: 1 } });

    await expect(order.result({ timeout: 50 })).rejects.toMatchObject({ code: "result.timeout" });
    await expect(order.result({ signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow("enough");
    expect((await order.status()).finishedAt).toBeNull();
  });

  test("creates, sends and ends once, though answers are lost", async () => {
    const { app, client, network } = await connectBadly();
    network.loseAnswersOf(/POST .*instances$/, /POST .*events$/, /POST .*terminate$/, /DELETE/);
    const order = await client.workflows.checkout.create({ id: "order-1", params: { total: 1 } });
    await order.sendEvent({ type: "approved", payload: { by: "Ada" } });
    expect(await order.result()).toMatchObject({ by: "Ada" });
    expect((await app.workflows.checkout.list()).instances).toHaveLength(1);

    const another = await client.workflows.checkout.create({ id: "order-2", params: { total: 1 } });
    await another.terminate();
    expect((await another.status()).status).toBe("terminated");
    await another.delete();
    await expect(another.status()).rejects.toMatchObject({ code: "instance.not_found" });
    const sent = (end: RegExp) => network.requests.filter((request) => end.test(request)).length;
    expect([sent(/checkout-workflow\/instances$/), sent(/events$/), sent(/terminate$/), sent(/DELETE/)]).toEqual([
      3, 2, 2, 2,
    ]);
  });

  test("creates and deletes a batch once, though answers are lost", async () => {
    const { app, client, network } = await connectBadly();
    network.loseAnswersOf(/POST .*batch$/, /POST .*delete$/);
    const { created, errors } = await client.workflows.echo.createBatch({ count: 3, params: 1 });
    expect([created.length, errors, (await app.workflows.echo.list()).instances.length]).toEqual([3, [], 3]);
    const ids = created.map(({ id }) => id);

    expect(await client.workflows.echo.deleteBatch(ids)).toEqual({ deleted: ids.map((id) => ({ id })), errors: [] });
    expect((await app.workflows.echo.list()).instances).toEqual([]);
  });

  test("rolls back, restarts from a step and tries a failed step again", async () => {
    const { client } = await connect();
    const order = await client.workflows.checkout.create({ params: { total: 1 } });
    for await (const { type } of await order.subscribe()) if (type === "wait_started") break;
    await order.terminate({ rollback: true });
    await expect(order.result()).rejects.toMatchObject({ name: "WorkflowTerminatedError" });
    await order.restart({ from: { name: "approval", type: "waitForEvent" } });
    expect((await order.status()).run).toBe(2);
    await expect(order.restart({ from: { name: "no such step" } })).rejects.toMatchObject({ code: "step.not_found" });
    const failed = await client.workflows.failing.create();
    await failed.result().catch(() => {});
    await expect(failed.retryFailedStep()).rejects.toMatchObject({ name: "ConflictError" });
    await expect(order.retryFailedStep()).rejects.toMatchObject({ code: "instance.not_errored" });
  });

  test("doesn't restart twice: who can't know says so", async () => {
    const { client, network } = await connectBadly();
    const order = await client.workflows.checkout.create({ params: { total: 1 } });
    network.loseAnswersOf(/restart$/);

    await expect(order.restart()).rejects.toMatchObject({ code: "client.outcome_unknown" });
    expect((await order.status()).run).toBe(2);
    expect(network.requests.filter((request) => request.endsWith("/restart"))).toHaveLength(1);
  });

  test("goes on after the last event when the stream is cut", async () => {
    const { client, network } = await connectBadly();
    const order = await client.workflows.checkout.create({ params: { total: 1 } });
    const { fetch } = network;
    let cuts = 0;
    const cutting = createClient<App>({
      baseUrl: "http://localhost/perdure",
      fetch: async (request) => {
        const response = await fetch(request);
        if (!request.url.includes("/subscribe") || ++cuts > 2) return response;
        const reader = response.body?.getReader();
        return new Response(
          new ReadableStream({
            async pull(controller) {
              const { value, done } = (await reader?.read()) ?? { done: true };
              if (done) controller.close();
              else controller.enqueue(value);
              if (String(new TextDecoder().decode(value)).includes("eventId"))
                controller.error(new TypeError("terminated"));
            },
          }),
        );
      },
    });
    const types: string[] = [];
    await order.sendEvent({ type: "approved", payload: { by: "Ada" } });
    for await (const { type } of await (await cutting.workflows.checkout.get(order.id)).subscribe()) types.push(type);

    const whole: string[] = [];
    for await (const { type } of await order.subscribe()) whole.push(type);
    expect(types).toEqual(whole);
    expect(cuts).toBeGreaterThan(2);
  });

  test("gives up on a server that isn't there, and says so", async () => {
    const { network } = await connectBadly();
    network.lose = () => "request";
    const client = createClient<App>({ baseUrl: "http://localhost/perdure", fetch: network.fetch, retries: 2 });

    await expect(client.workflows.echo.create({ params: 1 })).rejects.toMatchObject({ code: "client.unreachable" });
    expect(network.requests).toHaveLength(3);
  });

  test("needs no list of workflows where it may not have one", async () => {
    const app = await start(subject);
    const authorize = { create: () => true, read: () => false };
    const { fetch } = new Network(createHttpHandler(app, { authorize, logger: subject.logs }));
    const keyed = createClient<App>({ baseUrl: "http://localhost", fetch });
    expect((await keyed.workflows.echo.create({ id: "by-key" })).id).toBe("by-key");
    await expect(keyed.workflows.checkout.create({ params: { total: 1 } })).rejects.toMatchObject({
      code: "workflow.not_found",
    });

    const named = createClient<App>({ baseUrl: "http://localhost", fetch, names: { checkout: "checkout-workflow" } });
    expect((await named.workflows.checkout.create({ id: "by-name", params: { total: 1 } })).id).toBe("by-name");
  });
});

test.each([
  {},
  { baseUrl: "/relative" },
  { baseUrl: "ftp://x" },
  { baseUrl: "http://x?a=1" },
  { baseUrl: "http://x", retries: -1 },
  { baseUrl: "http://x", key: 1 },
])("a client of %o is refused", (options) => {
  expect(() => createClient(options as never)).toThrow(expect.objectContaining({ code: "options.invalid" }));
});

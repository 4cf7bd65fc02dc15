import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, expectTypeOf, test } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { bearerToken, createHttpHandler } from "../../src/http/index.ts";
import { toNodeHandler } from "../../src/http/node.ts";
import type { WorkflowInstanceEvent } from "../../src/index.ts";
import { useHttp } from "../http/support/use-http.ts";
import { ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { type App, givenTokens, start } from "./support/sample-app.ts";

const TOKEN = "a-token-that-nobody-guesses";

describe.each(ENGINES)("a client on $name", (engine) => {
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
      stackTraces: true,
    });
    const server = createServer(toNodeHandler(handler));
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/perdure/`;
    return { app, client: createClient<App>({ baseUrl, token: TOKEN }), baseUrl };
  }

  test("creates an instance with its event, or sends that, and sends an event to all with a label", async () => {
    const { client } = await connect();
    const { checkout } = client.workflows;
    const labels = { tenant: "acme" };
    const event = { type: "approved", payload: { by: "Ada" } } as const;
    const { instance, outcome } = await checkout.createOrSend({ id: "a", params: { total: 1 }, event });
    expect([outcome, (await instance.result()).by]).toEqual(["created", "Ada"]);
    const orders = await checkout.createBatch(
      Array.from({ length: 100 }, (_, index) => ({ id: `b-${index}`, params: { total: 1 }, labels })),
    );
    orders.push(await checkout.create({ params: { total: 1 }, labels }));
    expect(await checkout.sendEventToAll({ ...event, labels })).toEqual({ sent: 101, full: 0 });
    for (const order of orders) expect((await order.result()).by).toBe("Ada");
    if (Math.random() > 1) {
      // @ts-expect-error The payload is missing.
      await checkout.createOrSend({ id: "a", params: { total: 1 }, event: { type: "approved" } });
    }
  });

  test("ends the wait of a token without credentials, also if the first answer is lost", async () => {
    const { client, baseUrl } = await connect();
    givenTokens.length = 0;
    const instance = await client.workflows.signed.create();
    const token = await waitUntil("the token is given out", () => givenTokens[0]);
    let lost = 0;
    const anonymous = createClient({
      baseUrl,
      fetch: async (...request) => {
        const response = await fetch(...request);
        if (lost++ === 0) throw new TypeError("The answer was lost.");
        return response;
      },
    });
    await anonymous.completeToken(token, new Date(7));

    expect([lost, await instance.result()]).toEqual([2, new Date(7)]);
    await expect(anonymous.completeToken(token)).rejects.toMatchObject({ code: "token.used" });
    await expect(anonymous.completeToken("A".repeat(60))).rejects.toMatchObject({ code: "token.invalid" });
    await expect(anonymous.completeToken("")).rejects.toMatchObject({ code: "token.invalid" });
  });

  test("has the shape and the types of the application, and returns values unchanged", async () => {
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
    expect(await echo.counts({ exact: true })).toEqual(await app.workflows.echo.counts({ exact: true }));
    await expect(echo.counts({ exact: "yes" } as never)).rejects.toMatchObject({ code: "http.invalid_request" });
    expect(await echo.versions()).toEqual([{ version: null, unfinished: 0, registered: true }]);
    expect(await client.instances.counts()).toEqual(await app.instances.counts());
    expect(await client.instances.counts({ exact: true })).toEqual(await app.instances.counts({ exact: true }));
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

  test("follows an instance, and continues at its cursor", async () => {
    const { app, client } = await connect();
    const order = await client.workflows.checkout.create({ id: "order-1", params: { total: 1 } });
    // Without those that tell how it stands, which aren't stored: who looks later doesn't get them.
    const filter = [
      "workflow_queued",
      "step_completed",
      "wait_started",
      "wait_completed",
      "workflow_completed",
    ] as const;
    const first: WorkflowInstanceEvent[] = [];
    for await (const event of await order.subscribe({ filter })) {
      first.push(event);
      if (event.type === "wait_started") break;
    }
    await order.sendEvent({ type: "approved", payload: { by: "Bob" } });
    const rest: WorkflowInstanceEvent[] = [];
    for await (const event of await order.subscribe({ cursor: first.at(-1)?.eventId as number, filter }))
      rest.push(event);

    const all: WorkflowInstanceEvent[] = [];
    for await (const event of await (await app.workflows.checkout.get("order-1")).subscribe({ filter }))
      all.push(event);
    expect([...first, ...rest]).toEqual(all);
    expect(all.map(({ type }) => type)).toEqual(filter);
    const again = await order.subscribe({ cursor: all.at(-1)?.eventId as number });
    expect(await again.next()).toEqual({ done: true, value: undefined });
  });

  test("stops following when its signal aborts, even while it waits", async () => {
    const { client } = await connect();
    const order = await client.workflows.checkout.create({ params: { total: 1 } });
    const subscription = await order.subscribe({ filter: ["workflow_completed"] });
    const waiting = [subscription.next(), subscription.next()];

    await subscription.return();

    expect(await Promise.all(waiting)).toEqual([{ done: true }, { done: true }]);
    expect(await subscription.next()).toEqual({ done: true });
  });

  test("returns values of all kinds in results, events and histories", async () => {
    const { app, client } = await connect();
    const rich = { at: new Date(5), total: 12n };
    const filter = ["workflow_started", "step_progress", "step_completed", "workflow_completed"] as const;
    const run = await client.workflows.rich.create({ id: "rich", params: rich });
    const events = await Array.fromAsync(await run.subscribe({ filter }));

    expect(events).toMatchObject([{ params: rich }, { value: rich }, { output: rich }, { output: rich }]);
    const history = await run.history();
    expect(history).toEqual(await (await app.workflows.rich.get("rich")).history());
    expect(history.entries.map(({ progress }) => progress)).toContainEqual(rich);
  });

  test("reports earlier runs as the application does", async () => {
    const { app, client } = await connect();
    const run = await client.workflows.undone.create({ id: "undone" });
    await run.result().catch(() => {});
    await run.restart();
    await run.result().catch(() => {});

    const history = await run.history();

    expect(history).toEqual(await (await app.workflows.undone.get("undone")).history());
    expect(history.earlierRuns).toMatchObject([{ status: "errored", rollback: { outcome: "complete" } }]);
    expect((await run.history({ runsAfter: 1 })).earlierRuns).toEqual([]);
  });

  test("takes the options that Cloudflare's types have", async () => {
    const { client } = await connect();
    const options = { locationHint: "weur", retention: { successRetention: "1 day" }, params: { total: 1 } } as const;
    expect((await client.workflows.checkout.create({ id: "here", ...options })).id).toBe("here");
    expect(await client.workflows.checkout.createBatch([{ id: "there", ...options }])).toHaveLength(1);
    const counted = { count: 2, instances: undefined, ...options };
    expect((await client.workflows.checkout.createBatch(counted)).created).toHaveLength(2);
  });

  test("throws the errors of the application, with the same codes", async () => {
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

  test("stops waiting for a result when its signal aborts, and the instance continues", async () => {
    const { client } = await connect();
    const order = await client.workflows.checkout.create({ params: { total: 1 } });

    await expect(order.result({ timeout: 50 })).rejects.toMatchObject({ code: "result.timeout" });
    await expect(order.result({ signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow("enough");
    const patient = order.result({ timeout: "60 days" }); // longer than timers can be
    expect((await order.status()).finishedAt).toBeNull();
    await order.sendEvent({ type: "approved", payload: { by: "Ada" } });
    expect(await patient).toMatchObject({ by: "Ada" });
  });

  test("refuses invalid calls, and sends no request for an empty batch", async () => {
    const { app, client } = await connect();
    const { echo } = client.workflows;
    for (const id of [".", "..", "", "a/b", undefined as never]) {
      await expect(echo.get(id)).rejects.toMatchObject({ name: "InvalidInputError", code: "id.invalid" });
      await expect(echo.restartOrCreate({ id })).rejects.toMatchObject({ code: "id.invalid" });
    }
    for (const count of [-1, 1.5, 1e9]) {
      await expect(echo.createBatch({ count })).rejects.toMatchObject({ code: "create.invalid" });
    }
    await expect(echo.list({ createdFrom: new Date("no time") })).rejects.toMatchObject({ code: "options.invalid" });
    await expect(echo.list({ limits: 1 } as never)).rejects.toMatchObject({ code: "options.invalid" });

    const nothing = { createdFrom: undefined, limit: undefined } as never;
    expect((await echo.list(nothing)).instances).toEqual([]);
    expect([await echo.createBatch([]), await echo.createBatch({ count: 0 }), await echo.deleteBatch([])]).toEqual([
      await app.workflows.echo.createBatch([]),
      await app.workflows.echo.createBatch({ count: 0 }),
      await app.workflows.echo.deleteBatch([]),
    ]);
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

  test("needs no list of workflows if it isn't allowed to read one", async () => {
    const app = await start(subject);
    const authorize = { create: () => true, read: () => false };
    const fetch = createHttpHandler(app, { authorize, logger: subject.logs });
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
  { baseUrl: "http://user:secret@x" },
  { baseUrl: "http://x", retries: -1 },
  { baseUrl: "http://x", key: 1 },
])("a client of %o is refused", (options) => {
  expect(() => createClient(options as never)).toThrow(expect.objectContaining({ code: "options.invalid" }));
});

import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineWorkflow } from "../../src/workflows/define/define-workflow.ts";
import { ENGINES } from "../support/engines.ts";
import { hooks, workflows } from "./support/sample-app.ts";
import { useHttp } from "./support/use-http.ts";

/** What its schema makes of the same params is never the same. */
const stamped = defineWorkflow(
  { name: "stamped", input: z.object({ nonce: z.string().default(() => crypto.randomUUID()) }) },
  async () => {},
);

/** Returns the payloads of two events. */
const pair = defineWorkflow({ name: "pair" }, async (_event, step) => {
  const first = await step.waitForEvent<number>("first", { type: "word" });
  const second = await step.waitForEvent<number>("second", { type: "word" });
  return [first.payload, second.payload];
});

describe.each(ENGINES)("requests with an Idempotency-Key on $name", (engine) => {
  const subject = useHttp(engine);
  const INSTANCES = "/workflows/echo/instances";
  const withKey = (key: string) => ({ headers: { "idempotency-key": key } });

  async function setUp() {
    const app = await subject.start({ workflows: { ...workflows, stamped, pair }, hooks });
    const client = subject.serve(app);
    const count = async (workflow: string) =>
      (await client.get<{ instances: unknown[] }>(`/workflows/${workflow}/instances`)).body.instances.length;
    return { app, client, count };
  }

  test("create one instance, however often and however many at once they are sent", async () => {
    const { client, count } = await setUp();
    const create = () => client.post(INSTANCES, { params: { n: 1 } }, withKey("order-1"));

    const replies = [...(await Promise.all([create(), create(), create()])), await create()];

    expect(new Set(replies.map(({ status, body }) => `${status} ${body["id"]}`)).size).toBe(1);
    expect(replies[0]?.status).toBe(201);
    expect(await count("echo")).toBe(1);
    await client.becomes(`${INSTANCES}/${replies[0]?.body["id"]}`, "complete");
    expect((await create()).status).toBe(201);
    expect(await count("echo")).toBe(1);
  });

  test("are refused with other params under the same key or id, and nothing changes", async () => {
    const { client, count } = await setUp();
    await client.post(INSTANCES, { params: 1 }, withKey("a"));
    await client.post(INSTANCES, { id: "own", params: 1 }, withKey("b"));

    const sameKey = await client.post(INSTANCES, { params: 2 }, withKey("a"));
    const sameId = await client.post(INSTANCES, { id: "own", params: 2 }, withKey("b"));
    const repeated = await client.post(INSTANCES, { id: "own", params: 1 }, withKey("b"));

    for (const { status, body } of [sameKey, sameId]) {
      expect([status, body["code"]]).toEqual([409, "http.idempotency_conflict"]);
    }
    const another = await client.post(INSTANCES, { id: "own", params: 1 }, withKey("c"));
    expect([another.status, another.body["code"]]).toEqual([409, "instance.already_exists"]);
    const returned = await client.post(INSTANCES, { id: "own", params: 1, onConflict: "return" }, withKey("c"));
    expect([returned.status, returned.body["id"]]).toEqual([201, "own"]);
    expect([repeated.status, repeated.body["id"]]).toEqual([201, "own"]);
    expect(await count("echo")).toBe(2);
  });

  test("are refused with another id, another instance or for something else under the same key", async () => {
    const { client, count } = await setUp();
    const waiting = "/workflows/pair/instances";
    for (const id of ["one", "two"]) await client.post(waiting, { id });
    await client.post(INSTANCES, { id: "first" }, withKey("a"));
    await client.post(`${waiting}/one/events`, { type: "word", payload: 1 }, withKey("b"));
    await client.post(`${waiting}/two/resume`, undefined, withKey("c"));

    const replies = [
      await client.post(INSTANCES, { id: "second" }, withKey("a")),
      await client.post(INSTANCES, {}, withKey("a")),
      await client.post(`${waiting}/two/events`, { type: "word", payload: 1 }, withKey("b")),
      await client.post(`${waiting}/one/events`, { type: "word", payload: 2 }, withKey("b")),
      await client.post(`${waiting}/one/pause`, undefined, withKey("b")),
      await client.delete(`${waiting}/one`, withKey("b")),
      await client.post(`${waiting}/two/terminate`, undefined, withKey("c")),
      await client.delete(`${waiting}/two`, withKey("c")),
    ];

    for (const { status, body } of replies) {
      expect([status, body["code"]]).toEqual([409, "http.idempotency_conflict"]);
    }
    expect([await count("echo"), await count("pair")]).toEqual([1, 2]);
  });

  test("leave nothing of the key in the database", async () => {
    const { client, app } = await setUp();
    await client.post(INSTANCES, { params: 1 }, withKey("card-4111-1111"));
    await client.post(`${INSTANCES}/batch`, { instances: [{ params: 1 }] }, withKey("card-4222-2222"));
    const { dialect } = app.parts.store.engine;
    const schema = dialect === "sqlite" ? "perdure_" : "perdure.";

    const rows = await app.parts.store.engine.transaction(async ({ query }) =>
      Promise.all(["instance", "request"].map((table) => query(`select * from ${schema}${table}`, []))),
    );

    expect(rows.map(({ length }) => length > 0)).toEqual([true, true]);
    expect(JSON.stringify(rows, (_, value) => (typeof value === "bigint" ? String(value) : value))).not.toContain(
      "card-",
    );
  });

  test("may be sent again after they were refused", async () => {
    const { client } = await setUp();
    const pause = () => client.post("/workflows/sleeper/instances/one/pause", undefined, withKey("a"));
    expect((await pause()).status).toBe(404);
    await client.post("/workflows/sleeper/instances", { id: "one" });
    expect((await pause()).status).toBe(204);
  });

  test("with another key create another instance", async () => {
    const { client, count } = await setUp();
    for (const key of ["a", "b"]) await client.post(INSTANCES, { params: 1 }, withKey(key));
    expect(await count("echo")).toBe(2);
  });

  test("may be repeated where a schema makes something else of the params each time", async () => {
    const { client, count } = await setUp();
    const create = () => client.post("/workflows/stamped/instances", { params: {} }, withKey("a"));

    expect([(await create()).status, (await create()).status]).toEqual([201, 201]);
    expect(await count("stamped")).toBe(1);
  });

  test("create a batch once, and give all of it each time", async () => {
    const { client, count } = await setUp();
    const batch = { instances: [{ params: 1 }, { params: 1 }, { id: "own" }] };
    const create = () => client.post(`${INSTANCES}/batch`, batch, withKey("a"));

    const [first, second] = [await create(), await create()];

    expect(first.status).toBe(201);
    expect(second.body).toEqual(first.body);
    expect(await count("echo")).toBe(3);
  });

  test("say each time what was wrong with some of a batch", async () => {
    const { client, count } = await setUp();
    const batch = (last: unknown) => ({
      instances: [{ params: {} }, { params: { nonce: 1 } }, { params: { nonce: last } }],
    });
    const create = async (last: unknown) => {
      const { body } = await client.post<{ created: unknown; errors: { index: number; code: string }[] }>(
        "/workflows/stamped/instances/batch",
        batch(last),
        withKey("a"),
      );
      return { created: body.created, errors: body.errors.map(({ index, code }) => [index, code]) };
    };

    const first = await create("x");

    expect(first.errors).toEqual([[1, "params.invalid"]]);
    expect(await create("x")).toEqual(first);
    const other = await client.post("/workflows/stamped/instances/batch", batch("y"), withKey("a"));
    const fewer = { instances: batch("x").instances.slice(0, 1) };
    const part = await client.post("/workflows/stamped/instances/batch", fewer, withKey("a"));
    for (const { status, body } of [other, part]) {
      expect([status, body["code"]]).toEqual([409, "http.idempotency_conflict"]);
    }
    expect(await count("stamped")).toBe(2);
  });

  test("send an event once", async () => {
    const { client } = await setUp();
    const path = "/workflows/pair/instances/one";
    await client.post("/workflows/pair/instances", { id: "one" });
    const send = (payload: number, key: string) =>
      client.post(`${path}/events`, { type: "word", payload }, withKey(key));

    expect([(await send(1, "a")).status, (await send(1, "a")).status]).toEqual([204, 204]);
    await send(2, "b");

    expect((await client.becomes(path, "complete"))["output"]).toEqual([1, 2]);
    expect((await send(2, "b")).status).toBe(204); // it was accepted, whatever has become of the instance
  });

  test("about hooks get the first answer again", async () => {
    const { app, client } = await setUp();
    const { id } = await app.hooks.later.trigger({ text: "x" }, { processAt: new Date(Date.now() + 3_600_000) });
    const cancel = () => client.post("/hooks/cancel", { id }, withKey("a"));

    const replies = [await cancel(), await cancel()];

    expect(replies.map(({ body }) => body)).toEqual(Array(2).fill({ cancelled: [id], running: [] }));
    const other = await client.post("/hooks/cancel", { id: "another" }, withKey("a"));
    expect([other.status, other.body["code"]]).toEqual([409, "http.idempotency_conflict"]);
  });

  test("are refused where a key would promise nothing, or can't be one", async () => {
    const { app } = await setUp();
    const client = subject.serve(app, { tick: true });
    const ticked = await client.post("/_runner/tick", undefined, withKey("a"));
    const long = await client.post(INSTANCES, {}, withKey("k".repeat(256)));
    const spaced = await client.post(INSTANCES, {}, withKey("a b"));

    for (const { status, body } of [ticked, long, spaced]) {
      expect([status, body["code"]]).toEqual([400, "http.invalid_request"]);
    }
  });
});

import { DatabaseSync } from "node:sqlite";
import Database from "better-sqlite3";
import pg from "pg";
import { afterEach, describe, expect, test } from "vitest";
import {
  type AsyncTransaction,
  defineHook,
  defineWorkflow,
  fromBetterSqlite3,
  fromNodeSqlite,
  fromPg,
  perdure,
  type SyncTransaction,
  type WorkflowEvent,
} from "../../src/index.ts";
import { DRIVERS, type TestEngine, type TestStore } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";

const opened: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** A connection of the application's own, with which it writes to the same database. */
interface OwnConnection {
  readonly transaction: SyncTransaction | AsyncTransaction;
  run(text: string): Promise<unknown>;
}

async function connect(name: TestEngine["name"], location: string): Promise<OwnConnection> {
  if (name === "postgres") {
    const client = new pg.Client(location);
    await client.connect();
    opened.push(() => client.end());
    return { transaction: fromPg(client), run: (text) => client.query(text) };
  }
  const database = name === "node:sqlite" ? new DatabaseSync(location) : new Database(location);
  opened.push(() => database.close());
  const transaction =
    database instanceof DatabaseSync ? fromNodeSqlite(database) : fromBetterSqlite3(database as never);
  return { transaction, run: async (text) => void database.exec(text) };
}

const order = defineWorkflow({ name: "order" }, async (event: WorkflowEvent<unknown>, step) => {
  const texts: unknown[] = [event.payload];
  for (let index = 0; index < 2; index++) {
    const note = await step.waitForEvent<string>(`note ${index}`, { type: "note", timeout: "1 hour" });
    texts.push(note.payload);
  }
  return texts;
});

const quick = defineWorkflow({ name: "quick" }, async (event: WorkflowEvent<unknown>) => event.payload);
const single = defineWorkflow(
  { name: "single", concurrency: { limit: 1 } },
  async (event: WorkflowEvent<unknown>) => event.payload,
);

describe.each(DRIVERS)("workflows in the application's own transaction on $name", (engine) => {
  async function start() {
    const database: TestStore = await engine.create();
    opened.push(() => database.dispose());
    const app = await perdure({ database: database.adapter, workflows: { order, quick, single } });
    opened.push(() => app.stop());
    const own = await connect(engine.name, database.location);
    await own.run("create table orders (id text)");
    const within = () => app.within(own.transaction as AsyncTransaction).workflows;
    return { app, own, within };
  }

  test("an instance starts after the commit, with its params and labels", async () => {
    const { app, own, within } = await start();
    await own.run("begin");
    await own.run("insert into orders values ('a')");
    expect(await within().quick.create({ id: "a", params: { n: 1 }, labels: { tenant: "t" } })).toEqual({ id: "a" });
    await own.run("commit");
    const instance = await app.workflows.quick.get("a");
    expect(await instance.result()).toEqual({ n: 1 });
    expect((await app.workflows.quick.list({ labels: { tenant: "t" } })).instances.map(({ id }) => id)).toEqual(["a"]);
  });

  test("a workflow's own code is warned of calls that its replays would repeat, and the code of a step isn't", async () => {
    const warnings: unknown[] = [];
    const warn = (_message: string, details?: Record<string, unknown>) => void warnings.push(details);
    const database = await engine.create();
    opened.push(() => database.dispose());
    const note = defineHook({}, async (_text: string) => {});
    const own = await connect(engine.name, database.location);
    const write = async () => {
      await own.run("begin");
      const within = app.within(own.transaction as AsyncTransaction);
      await within.triggerHook("note", "text");
      await within.triggerHook("note", "text", { id: crypto.randomUUID() });
      await within.workflows.quick.create();
      await within.workflows.quick.create({ id: crypto.randomUUID() });
      await own.run("commit");
    };
    const between = defineWorkflow({ name: "between" }, write);
    const inside = defineWorkflow({ name: "inside" }, (_event, step) => step.do("write", write));
    const silent = { info: () => {}, warn: () => {}, error: () => {} };
    const app = await perdure({
      database: database.reopen({ logger: { ...silent, warn } }),
      hooks: { note },
      workflows: { between, inside, quick },
      logger: silent,
    });
    opened.push(() => app.stop());

    await (await app.workflows.inside.create({ id: "inside" })).result();
    expect(warnings).toEqual([]);
    await (await app.workflows.between.create({ id: "between" })).result();
    const code = { workflow: "between", instance: "between" };
    expect(warnings).toEqual([
      { ...code, hookName: "note" },
      { ...code, createdWorkflow: "quick" },
    ]);
  });

  test("a rollback takes instances and events with it", async () => {
    const { app, own, within } = await start();
    await app.workflows.order.create({ id: "there", params: "p" });
    await own.run("begin");
    await within().quick.create({ id: "a" });
    await within().order.sendEvent({ to: "there", type: "note", payload: "lost" });
    await own.run("rollback");
    await expect(app.workflows.quick.get("a")).rejects.toThrow("instance.not_found");
    const there = await app.workflows.order.get("there");
    await there.sendEvent({ type: "note", payload: "one" });
    await there.sendEvent({ type: "note", payload: "two" });
    expect(await there.result()).toEqual(["p", "one", "two"]);
  });

  test("events reach an instance of the same transaction in the order in which they were sent", async () => {
    const { app, own, within } = await start();
    for (let round = 0; round < 5; round++) {
      const id = `order-${round}`;
      await own.run("begin");
      await within().order.create({ id, params: "p" });
      await within().order.sendEvent({ to: id, type: "note", payload: "first" });
      const target = { workflow: order, id };
      await app.within(own.transaction as AsyncTransaction).sendEvent(target, { type: "note", payload: "second" });
      await own.run("commit");
      expect(await (await app.workflows.order.get(id)).result()).toEqual(["p", "first", "second"]);
    }
  });

  test("createOrSend creates the instance once and sends each event", async () => {
    const { app, own, within } = await start();
    for (const payload of ["first", "second"]) {
      await own.run("begin");
      await within().order.createOrSend({ id: "a", params: payload, event: { type: "note", payload } });
      await own.run("commit");
    }
    expect(await (await app.workflows.order.get("a")).result()).toEqual(["first", "first", "second"]);
  });

  test("a call that lacks its arguments is refused, and writes nothing", async () => {
    const { app, own, within } = await start();
    await own.run("begin");
    const order = within().order as unknown as Record<string, (...given: unknown[]) => unknown>;
    const codeOf = async (call: () => unknown) => {
      try {
        await call();
        return "accepted";
      } catch (error) {
        return (error as { code?: unknown }).code;
      }
    };
    expect(await codeOf(() => order.sendEvent?.())).toBe("event.invalid");
    expect(await codeOf(() => order.sendEvent?.("a", { type: "note" }))).toBe("event.invalid");
    expect(await codeOf(() => order.createOrSend?.())).toBe("create.invalid");
    expect(await codeOf(() => order.createOrSend?.({ event: { type: "note" } }))).toBe("create.invalid");
    expect(await codeOf(() => order.createOrSend?.({ id: "a" }))).toBe("event.invalid");
    expect(await codeOf(() => order.createOrSend?.({ id: "a", event: { type: "not a type" } }))).toBe("id.invalid");
    await own.run("commit");
    expect((await app.workflows.order.list()).instances).toEqual([]);
  });

  test("a batch gives the ids that are new, and an id that exists doesn't break the transaction", async () => {
    const { app, own, within } = await start();
    await (await app.workflows.quick.create({ id: "old" })).result();
    await own.run("begin");
    expect(await within().quick.createBatch([{ id: "old" }, { id: "new", params: 7 }])).toEqual([{ id: "new" }]);
    await expect(async () => within().quick.create({ id: "old" })).rejects.toMatchObject({
      code: "instance.already_exists",
    });
    await own.run("insert into orders values ('a')");
    await own.run("commit");
    expect(await (await app.workflows.quick.get("new")).result()).toBe(7);
  });

  test("an instance with a limit stands in line and runs", async () => {
    const { app, own, within } = await start();
    await own.run("begin");
    for (const id of ["a", "b", "c"]) await within().single.create({ id, params: id });
    await own.run("commit");
    for (const id of ["a", "b", "c"]) expect(await (await app.workflows.single.get(id)).result()).toBe(id);
  });

  test("nothing is written without a transaction", async () => {
    const { app, within } = await start();
    const refused = { code: "transaction.not_open" };
    await expect(async () => within().quick.create({ id: "a" })).rejects.toMatchObject(refused);
    await expect(async () => within().order.sendEvent({ to: "a", type: "note" })).rejects.toMatchObject(refused);
    expect((await app.workflows.quick.list()).instances).toEqual([]);
  });
});

test("the last of several triggers of one key in one transaction of PostgreSQL wins", async () => {
  const engine = DRIVERS.find(({ name }) => name === "postgres") as TestEngine;
  const database = await engine.create();
  opened.push(() => database.dispose());
  const payloads: string[] = [];
  const app = await perdure({
    database: database.adapter,
    hooks: { note: defineHook({}, (text: string) => void payloads.push(text)) },
  });
  opened.push(() => app.stop());
  const { transaction, run } = await connect("postgres", database.location);
  for (let round = 0; round < 40; round++) {
    await run("begin");
    for (const text of ["first", "second", "last"]) {
      await app.within(transaction as AsyncTransaction).triggerHook("note", `${round} ${text}`, { key: `k${round}` });
    }
    await run("commit");
  }
  await waitUntil("all are done", async () => (await app.durableHooks.list()).hooks.length === 0);
  expect(payloads.filter((text) => text.endsWith("last"))).toHaveLength(40);
  expect(payloads.filter((text) => !text.endsWith("last"))).toEqual([]);
});

import { DatabaseSync } from "node:sqlite";
import Database from "better-sqlite3";
import pg from "pg";
import { afterEach, describe, expect, test } from "vitest";
import {
  type AsyncTransaction,
  defineHook,
  defineWorkflow,
  fromBetterSqlite3,
  fromClient,
  fromNodeSqlite,
  fromPg,
  perdure,
  type SyncTransaction,
} from "../../src/index.ts";
import { DRIVERS, type TestEngine } from "../support/engines.ts";

const opened: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function start(engine: TestEngine) {
  const database = await engine.create();
  opened.push(() => database.dispose());
  const app = await perdure({
    database: database.adapter,
    hooks: { note: defineHook({}, () => {}) },
    workflows: { order: defineWorkflow({ name: "order" }, async () => {}) },
  });
  opened.push(() => app.stop());
  return { app, location: database.location };
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client(url);
  await client.connect();
  opened.push(() => client.end());
  return client;
}

/** A transaction on a connection of the application's own. */
async function begin(name: TestEngine["name"], location: string): Promise<SyncTransaction | AsyncTransaction> {
  if (name === "postgres") {
    const client = await connect(location);
    await client.query("begin");
    return fromPg(client);
  }
  const database = name === "node:sqlite" ? new DatabaseSync(location) : new Database(location);
  opened.push(() => database.close());
  database.exec("begin");
  return database instanceof DatabaseSync ? fromNodeSqlite(database) : fromBetterSqlite3(database as never);
}

describe.each(DRIVERS)("a transaction of another database on $name", (engine) => {
  test("is refused even if Perdure's tables are there, and nothing is written to either", async () => {
    const { app } = await start(engine);
    const other = await start(engine);
    const within = app.within((await begin(engine.name, other.location)) as AsyncTransaction);
    const refused = { code: "transaction.other_database" };
    await expect(async () => within.triggerHook("note")).rejects.toMatchObject(refused);
    await expect(async () => within.workflows.order.create({ id: "a" })).rejects.toMatchObject(refused);
    await expect(async () => within.workflows.order.sendEvent({ to: "a", type: "t" })).rejects.toMatchObject(refused);
    for (const one of [app, other.app]) {
      expect((await one.durableHooks.list()).hooks).toEqual([]);
      expect((await one.workflows.order.list()).instances).toEqual([]);
    }
  });

  test("is refused if Perdure's tables aren't there", async () => {
    const { app } = await start(engine);
    const empty = await engine.createEmpty();
    opened.push(() => empty.dispose());
    const within = app.within((await begin(engine.name, empty.location)) as AsyncTransaction);
    const refused = { code: "transaction.other_database" };
    await expect(async () => within.triggerHook("note")).rejects.toMatchObject(refused);
  });
});

describe("where the library can't tell whether a transaction is open", () => {
  const engine = DRIVERS.find(({ name }) => name === "postgres") as TestEngine;

  async function startWithClient() {
    const { app, location } = await start(engine);
    const client = await connect(location);
    const statements: string[] = [];
    const transaction = fromClient({
      dialect: "postgres",
      execute: async (text, parameters) => {
        statements.push(text);
        return (await client.query(text, parameters)).rows;
      },
    });
    return { app, client, transaction, statements };
  }

  test("nothing is written without one, or after its end", async () => {
    const { app, client, transaction } = await startWithClient();
    const refused = { code: "transaction.not_open" };
    const within = app.within(transaction);
    await expect(within.triggerHook("note")).rejects.toMatchObject(refused);
    await expect(within.workflows.order.create({ id: "a" })).rejects.toMatchObject(refused);
    await client.query("begin");
    await within.workflows.order.create({ id: "b" });
    await client.query("rollback");
    await expect(within.workflows.order.create({ id: "c" })).rejects.toMatchObject(refused);
    expect((await app.durableHooks.list()).hooks).toEqual([]);
    expect((await app.workflows.order.list()).instances).toEqual([]);
  });

  test("the transaction is asked for its id once, also if a savepoint is rolled back", async () => {
    const { app, client, transaction, statements } = await startWithClient();
    const later = { processAt: new Date(Date.now() + 3_600_000) };
    const within = app.within(transaction);
    await client.query("begin");
    await client.query("savepoint a");
    await within.triggerHook("note", undefined, { ...later, id: "lost" });
    await client.query("rollback to savepoint a");
    await within.triggerHook("note", undefined, { ...later, id: "kept" });
    await within.triggerHook("note", undefined, { ...later, id: "also kept" });
    await client.query("commit");
    expect(statements.filter((text) => text.startsWith("select"))).toHaveLength(1);
    expect((await app.durableHooks.list()).hooks.map(({ id }) => id).sort()).toEqual(["note/also kept", "note/kept"]);
  });
});

test("a call after a caught SQL error says that the transaction will be rolled back, with the driver's error", async () => {
  const engine = DRIVERS.find(({ name }) => name === "postgres") as TestEngine;
  const { app, location } = await start(engine);
  const client = await connect(location);
  await client.query("begin");
  await expect(client.query("select * from missing")).rejects.toThrow("missing");
  await expect(app.within(fromPg(client)).triggerHook("note")).rejects.toMatchObject({
    code: "transaction.rolled_back",
    cause: { code: "25P02" },
  });
});

test("a client whose parser changes texts is refused, and holds up nothing else", async () => {
  const { app, location } = await start(DRIVERS.find(({ name }) => name === "postgres") as TestEngine);
  const types = { getTypeParser: () => (text: string) => ({ text }) };
  const client = new pg.Client({ connectionString: location, types: types as never });
  await client.connect();
  opened.push(() => client.end());
  const refused = { code: "transaction.invalid", message: expect.stringContaining("parsers") };
  for (const call of [
    (within: NoteWithin) => within.triggerHook("note"),
    (within: NoteWithin) => within.workflows.order.create({ id: "a" }),
    (within: NoteWithin) => within.workflows.order.sendEvent({ to: "a", type: "x" }),
  ]) {
    await client.query("begin");
    await expect(call(app.within(fromPg(client)))).rejects.toMatchObject(refused);
    await client.query("rollback");
  }
  const other = await connect(location);
  await other.query("begin");
  await app.within(fromPg(other)).workflows.order.create({ id: "b" });
  await other.query("commit");
  expect(await (await app.workflows.order.get("b")).result()).toBeUndefined();
});

type NoteWithin = ReturnType<Awaited<ReturnType<typeof start>>["app"]["within"]>;

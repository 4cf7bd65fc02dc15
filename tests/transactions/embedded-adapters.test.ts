import { PGlite, type Transaction } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import Database from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { defineHook, defineWorkflow, fromDrizzle, fromPglite, perdure, type WorkflowEvent } from "../../src/index.ts";
import { postgres } from "../../src/store/postgres/index.ts";
import { DRIVERS, type TestEngine } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";

const opened: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function start(name: TestEngine["name"]) {
  const database = await (DRIVERS.find((one) => one.name === name) as TestEngine).create();
  opened.push(() => database.dispose());
  const notes: unknown[] = [];
  const note = defineHook({}, (payload: unknown) => void notes.push(payload));
  const app = await perdure({ database: database.adapter, hooks: { note } });
  opened.push(() => app.stop());
  return { app, notes, location: database.location };
}

describe("in a transaction of Drizzle on better-sqlite3", () => {
  async function startWithDrizzle() {
    const { app, notes, location } = await start("better-sqlite3");
    const client = new Database(location);
    opened.push(() => client.close());
    return { app, notes, db: drizzle(client) };
  }

  test("a hook runs after the commit, and goes with a savepoint or a transaction that is rolled back", async () => {
    const { app, notes, db } = await startWithDrizzle();
    const fail = () => {
      throw new Error("back");
    };
    db.transaction((tx) => {
      app.within(fromDrizzle(tx)).triggerHook("note", "kept");
      const nested = () =>
        tx.transaction((inner) => {
          app.within(fromDrizzle(inner)).triggerHook("note", "lost");
          fail();
        });
      expect(nested).toThrow("back");
    });
    const failing = () =>
      db.transaction((tx) => {
        app.within(fromDrizzle(tx)).triggerHook("note", "lost too");
        fail();
      });
    expect(failing).toThrow("back");
    await waitUntil("the hook has run", () => notes.length > 0);
    await waitUntil("nothing is left", async () => (await app.durableHooks.list()).hooks.length === 0);
    expect(notes).toEqual(["kept"]);
  });

  test("the database itself and a finished transaction are refused", async () => {
    const { app, db } = await startWithDrizzle();
    expect(() => fromDrizzle(db as never)).toThrow(expect.objectContaining({ code: "transaction.invalid" }));
    const finished = db.transaction((tx) => tx);
    const trigger = () => app.within(fromDrizzle(finished)).triggerHook("note", "lost");
    expect(trigger).toThrow(expect.objectContaining({ code: "transaction.not_open" }));
    expect((await app.durableHooks.list()).hooks).toEqual([]);
  });
});

describe("in a transaction of PGlite", () => {
  const quick = defineWorkflow({ name: "quick" }, async (event: WorkflowEvent<unknown>) => event.payload);
  const closing: (() => unknown)[] = [];
  let pglite: PGlite;
  let app: Awaited<ReturnType<typeof startOnPglite>>;

  /** PGlite takes long to start, so one serves all tests. */
  beforeAll(async () => {
    pglite = await PGlite.create();
    closing.push(() => pglite.close());
    app = await startOnPglite();
    await pglite.exec("create table orders (id text primary key)");
  });

  afterAll(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function startOnPglite() {
    const server = new PGLiteSocketServer({ db: pglite, port: 0, maxConnections: 10 });
    await server.start();
    closing.push(() => server.stop());
    const url = `postgres://postgres@${server.getServerConn()}/postgres`;
    const database = postgres(url, { preparedStatements: false });
    closing.push(() => database.store.close());
    const started = await perdure({ database, hooks: { note: defineHook(() => {}) }, workflows: { quick } });
    closing.push(() => started.stop());
    return started;
  }

  const list = async () => (await app.workflows.quick.list()).instances.map(({ id }) => id).sort();
  const countOrders = async () => (await pglite.query("select from orders")).rows.length;

  test.each(["read committed", "repeatable read", "serializable"])(
    "hooks, instances and events commit and roll back with its writes (%s)",
    async (isolation) => {
      const id = isolation.replace(" ", "-");
      const [before, orders] = [await list(), await countOrders()];
      const write = async (tx: Transaction, suffix: string) => {
        await tx.query(`set transaction isolation level ${isolation}`);
        await tx.query("insert into orders values ($1)", [`${id}-${suffix}`]);
        const within = app.within(fromPglite(tx));
        await within.triggerHook("note", { text: "it's ? $1" } as never, { id: `${id}-${suffix}` });
        await within.workflows.quick.create({ id: `${id}-${suffix}`, params: [`it's "?" $1`, null] });
      };
      await pglite.transaction(async (tx) => {
        await write(tx, "lost");
        await tx.rollback();
      });
      const failing = pglite.transaction(async (tx) => {
        await write(tx, "failed");
        throw new Error("midway");
      });
      await expect(failing).rejects.toThrow("midway");
      await pglite.transaction((tx) => write(tx, "kept"));
      expect(await (await app.workflows.quick.get(`${id}-kept`)).result()).toEqual([`it's "?" $1`, null]);
      expect(await list()).toEqual([...before, `${id}-kept`].sort());
      expect(await countOrders()).toBe(orders + 1);
    },
  );

  test("a savepoint that is rolled back takes its own work with it, and the rest commits", async () => {
    const before = await list();
    await pglite.transaction(async (tx) => {
      const { create } = app.within(fromPglite(tx)).workflows.quick;
      await create({ id: "before" });
      await tx.exec("savepoint own");
      await create({ id: "inside" });
      await tx.exec("rollback to savepoint own");
      await create({ id: "after" });
    });
    expect(await list()).toEqual([...before, "before", "after"].sort());
  });

  test("PGlite itself, a finished transaction and another database are refused", async () => {
    const before = await list();
    const other = await start("postgres");
    expect(() => fromPglite(pglite as never)).toThrow(expect.objectContaining({ code: "transaction.invalid" }));
    const finished = await pglite.transaction(async (tx) => {
      const trigger = other.app.within(fromPglite(tx)).triggerHook("note", "lost");
      await expect(trigger).rejects.toMatchObject({ code: "transaction.other_database" });
      return tx;
    });
    const late = app.within(fromPglite(finished)).workflows.quick.create({ id: "late" });
    await expect(late).rejects.toMatchObject({ code: "transaction.not_open" });
    expect(await list()).toEqual(before);
    expect((await other.app.durableHooks.list()).hooks).toEqual([]);
  });
});

import { PGlite } from "@electric-sql/pglite";
import Database from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { afterEach, describe, expect, test } from "vitest";
import { defineHook, fromDrizzle, fromPglite, perdure } from "../../src/index.ts";
import type { HookInsert } from "../../src/store/hooks/hook-records.ts";
import { DatabaseIdentity } from "../../src/store/postgres/database-identity.ts";
import { foreignTrigger } from "../../src/store/postgres/foreign-instances.ts";
import { foreignSession } from "../../src/store/postgres/foreign-session.ts";
import { migrationsTable } from "../../src/store/postgres/migrate.ts";
import { schemaMigrations } from "../../src/store/postgres/schema/schema.ts";
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
  const PREFIX = '"perdure".';

  /** Perdure's tables and statements in PGlite: applications there use `pg` with its socket. */
  async function openPglite() {
    const pglite = await PGlite.create();
    opened.push(() => pglite.close());
    await pglite.exec(migrationsTable("perdure"));
    for (const { sql } of schemaMigrations(PREFIX)) await pglite.exec(sql);
    await pglite.exec(
      "insert into perdure.migration (owner, number, name, breaking) values ('perdure', 1, 'x', false)",
    );
    const connection = { query: ({ text }: { text: string }) => pglite.query(text) };
    const identity = new DatabaseIdentity(connection as never, PREFIX);
    await identity.get(); // PGlite has one connection, which a transaction holds
    const names = async () =>
      (await pglite.query<{ id: string }>("select id from perdure.hook")).rows.map(({ id }) => id);
    const write = (tx: Parameters<typeof fromPglite>[0], id: string) => {
      const { text, parameters } = foreignTrigger(PREFIX, { ...HOOK, id }, null);
      return foreignSession(fromPglite(tx), identity).execute(text, parameters);
    };
    return { pglite, write, names };
  }

  const HOOK: HookInsert = {
    namespace: "app",
    id: "",
    name: "note",
    key: null,
    payload: '{"text":"it\'s ? $1"}',
    retries: null,
    trace: null,
    ownId: true,
    processAt: null,
  } as HookInsert;

  test("a trigger is written with the commit and gone with the rollback", async () => {
    const { pglite, write, names } = await openPglite();
    await pglite.transaction(async (tx) => {
      expect(await write(tx, "kept")).toEqual([{ result: expect.stringMatching(/^\d+$/) }]);
    });
    await pglite.transaction(async (tx) => {
      await write(tx, "lost");
      await tx.rollback();
    });
    expect(await names()).toEqual(["kept"]);
  });

  test("PGlite itself, a finished transaction and another database are refused", async () => {
    const { pglite, names } = await openPglite();
    const { app } = await start("postgres");
    expect(() => fromPglite(pglite as never)).toThrow(expect.objectContaining({ code: "transaction.invalid" }));
    const finished = await pglite.transaction(async (tx) => {
      const trigger = app.within(fromPglite(tx)).triggerHook("note", "lost");
      await expect(trigger).rejects.toMatchObject({ code: "transaction.other_database" });
      return tx;
    });
    const late = app.within(fromPglite(finished)).triggerHook("note", "lost");
    await expect(late).rejects.toMatchObject({ code: "transaction.not_open" });
    expect(await names()).toEqual([]);
    expect((await app.durableHooks.list()).hooks).toEqual([]);
  });
});

import pg from "pg";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { defineHook, perdure } from "../../src/index.ts";
import { DRIVERS, type TestEngine } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { DRIVER_LIBRARIES } from "./support/drivers.ts";
import { MAPPERS, removeGeneratedPrisma } from "./support/mappers.ts";
import type { Library } from "./support/own-transaction.ts";
import { QUERY_BUILDERS } from "./support/query-builders.ts";

const LIBRARIES: readonly Library[] = [...DRIVER_LIBRARIES, ...QUERY_BUILDERS, ...MAPPERS];
const engine = DRIVERS.find(({ name }) => name === "postgres") as TestEngine;
const opened: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

afterAll(removeGeneratedPrisma);

/** The call of its hook goes on when the gate is opened. */
async function start(library: Library) {
  const database = await engine.create();
  opened.push(() => database.dispose());
  const gate = Promise.withResolvers<void>();
  const input = z.string().refine(async () => {
    await gate.promise;
    return true;
  });
  const app = await perdure({ database: database.adapter, hooks: { slow: defineHook({ input }, () => {}) } });
  opened.push(() => app.stop());
  const own = await library.open(database.location, { connections: 1 });
  opened.push(() => own.close());
  return { app, own, gate, location: database.location };
}

describe.each(LIBRARIES)("a call that isn't awaited in a transaction of $name", (library) => {
  test("is refused after its end, and doesn't become part of the next one on the connection", async () => {
    const { app, own, gate } = await start(library);
    let late: Promise<unknown> = Promise.resolve();
    await own.transact(async (tx) => {
      await tx.query("select 1");
      late = app.within(tx.transaction).triggerHook("slow", "late", { processAt: new Date(Date.now() + 3_600_000) });
      late.catch(() => {});
    });
    await own.transact(async (tx) => {
      await tx.query("select 1");
      gate.resolve();
      await expect(late).rejects.toMatchObject({ code: "transaction.not_open" });
    });
    expect((await app.durableHooks.list()).hooks).toEqual([]);
  });
});

test("postgres.js drops a statement that comes while its transaction is being committed, and the call is refused", async () => {
  const library = DRIVER_LIBRARIES.find(({ name }) => name === "postgres.js") as Library;
  const { app, own, gate, location } = await start(library);
  const keeper = new pg.Client(location);
  await keeper.connect();
  opened.push(() => keeper.end());
  await keeper.query("select pg_advisory_lock(1)");
  await keeper.query(`create table lingering (id integer);
    create function linger() returns trigger language plpgsql
      as $$ begin perform pg_advisory_xact_lock(1); return null; end $$;
    create constraint trigger linger after insert on lingering deferrable initially deferred
      for each row execute function linger();`);
  let late: Promise<unknown> = Promise.resolve();
  const committed = own.transact(async (tx) => {
    await tx.query("insert into lingering values (1)");
    late = app.within(tx.transaction).triggerHook("slow", "late");
    late.catch(() => {});
  });
  await waitUntil("the commit waits", async () => {
    const { rows } = await keeper.query("select from pg_locks where locktype = 'advisory' and not granted");
    return rows.length === 1;
  });
  gate.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  await keeper.query("select pg_advisory_unlock(1)");
  await committed;
  await expect(late).rejects.toMatchObject({ code: "transaction.not_open" });
  expect((await app.durableHooks.list()).hooks).toEqual([]);
});

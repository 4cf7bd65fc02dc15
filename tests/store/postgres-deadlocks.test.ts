import type { Client } from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Engine } from "../../src/store/engine.ts";
import type { HookInsert } from "../../src/store/hooks/hook-records.ts";
import { NO_TRAITS } from "../../src/store/instances/instance-records.ts";
import { postgres } from "../../src/store/postgres/index.ts";
import type { Store } from "../../src/store/store.ts";
import { createCountingPool, StatementLog } from "../support/counting-pool.ts";
import { InstancesUnderTest } from "../support/use-instances.ts";
import { usePostgres } from "../support/use-postgres.ts";

const DEADLOCK = "40P01";
const IDS = ["a", "b", "c"];

/** Several rows that many processes write, in an order of the caller's. `write` gives what became of each. */
interface Writer {
  readonly what: string;
  readonly table: "hook" | "instance" | "schedule";
  readonly column: "id" | "key" | "name";
  /** Inserts one of these rows with plain SQL. */
  readonly insert: string;
  write(engine: Engine, ids: readonly string[]): Promise<unknown>;
}

describe("processes that write the same rows in opposite orders", () => {
  const fixture = usePostgres();
  const instances = new InstancesUnderTest(fixture);
  const log = new StatementLog();
  const stores: Store[] = [];

  beforeEach(() => {
    log.failures.length = 0;
  });
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
    for (const end of closing.splice(0)) await end();
  });
  const closing: (() => Promise<void>)[] = [];

  /** Another process, which notices soon if it waits in a circle. */
  function open(): Engine {
    const url = new URL(fixture.url);
    url.searchParams.set("options", "-c deadlock_timeout=20ms");
    const pool = createCountingPool(url.href, log);
    closing.push(() => pool.end());
    const { store } = postgres(pool, { clock: fixture.clock });
    stores.push(store);
    return store.engine;
  }

  const INSERT_HOOK = `insert into perdure.hook (namespace, name, id, key, payload, created_at, triggered_at, class, available_at, attempts)`;
  const own = (id: string): HookInsert => fixture.trigger({ id, ownId: true });
  const keyed = (key: string): HookInsert => fixture.trigger({ key });
  const both = (id: string): HookInsert => fixture.trigger({ id, ownId: true, key: id });
  const inUnit = (hookOf: (id: string) => HookInsert) => (engine: Engine, ids: readonly string[]) =>
    engine.transaction((transaction) => transaction.insertHooks(ids.map(hookOf)));
  const atOnce = (hookOf: (id: string) => HookInsert) => (engine: Engine, ids: readonly string[]) =>
    engine.hooks.insert(ids.map(hookOf));
  const byId = `${INSERT_HOOK} values ($1, 'greet', $2, null, '1', 0, 0, 1, 0, 0)`;
  const byKey = `${INSERT_HOOK} values ($1, 'greet', 'theirs-' || $2, $2, '1', 0, 0, 1, 0, 0)`;
  const INSERT_INSTANCE = `insert into perdure.instance (ref, namespace, name, id, params, created_at, class, available_at)
    values ('theirs-' || $1 || $2, $1, 'checkout', $2, '1', 0, 1, 0)`;
  const INSERT_SCHEDULE = `insert into perdure.schedule (namespace, workflow, name, cron, timezone, due_at, confirmed_at)
    values ($1, 'order', $2, '0 0 * * *', 'UTC', 0, 0)`;
  const schedule = (name: string) => ({
    namespace: fixture.namespace,
    workflow: "order",
    name,
    cron: "0 0 * * *",
    timezone: "UTC",
    dueAt: 5,
  });

  const WRITERS: Writer[] = [
    {
      what: "instances",
      table: "instance",
      column: "id",
      insert: INSERT_INSTANCE,
      write: (engine, ids) => engine.instances.insert(ids.map((id) => instances.instance({ id }))),
    },
    {
      what: "instances with traits",
      table: "instance",
      column: "id",
      insert: INSERT_INSTANCE,
      write: (engine, ids) =>
        engine.instances.insert(ids.map((id) => instances.instance({ id, traits: { ...NO_TRAITS, priority: 1 } }))),
    },
    { what: "hooks with ids", table: "hook", column: "id", insert: byId, write: atOnce(own) },
    { what: "hooks with keys", table: "hook", column: "key", insert: byKey, write: atOnce(keyed) },
    { what: "hooks with ids in a unit of work", table: "hook", column: "id", insert: byId, write: inUnit(own) },
    { what: "hooks with keys in a unit of work", table: "hook", column: "key", insert: byKey, write: inUnit(keyed) },
    {
      what: "hooks with ids and keys in a unit of work",
      table: "hook",
      column: "key",
      insert: byKey,
      write: inUnit(both),
    },
    {
      what: "schedules",
      table: "schedule",
      column: "name",
      insert: INSERT_SCHEDULE,
      write: (engine, names) => engine.schedules.insert(names.map(schedule)),
    },
  ];

  /** Another session's transaction that is just writing this row. */
  async function holding(writer: Writer, id: string): Promise<Client> {
    const client = await fixture.begin();
    await client.query(writer.insert, [fixture.namespace, id]);
    return client;
  }

  async function stored({ table, column }: Writer): Promise<string[]> {
    const result = await fixture.observer?.query(
      `select ${column} as id from perdure.${table} where namespace = $1 order by ${column}`,
      [fixture.namespace],
    );
    return result?.rows.map((row) => row.id) ?? [];
  }

  test.each(WRITERS)("never wait for each other in a circle: $what", async (writer) => {
    const middle = await holding(writer, "b");
    const first = writer.write(open(), IDS);
    await fixture.waiting(1);
    const second = writer.write(open(), [...IDS].reverse());
    await fixture.waiting(2);
    await middle.query("rollback");
    await Promise.all([first, second]);

    expect(log.failures).not.toContain(DEADLOCK);
    expect(await stored(writer)).toEqual(IDS);
  });

  test.each(WRITERS)("continue where PostgreSQL ended their circle with others: $what", async (writer) => {
    const last = await holding(writer, "c");
    const middle = await holding(writer, "b");
    const writing = writer.write(open(), IDS);
    await fixture.waiting(1);
    const theirs = last.query(writer.insert, [fixture.namespace, "a"]);
    await fixture.waiting(2);
    await middle.query("rollback");
    await theirs;
    await last.query("rollback");
    await writing;

    expect(log.failures).toContain(DEADLOCK);
    expect(await stored(writer)).toEqual(IDS);
  });
});

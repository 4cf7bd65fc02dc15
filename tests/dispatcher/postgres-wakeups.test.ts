import { Client, type Pool } from "pg";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { defineHook, fromPg, perdure } from "../../src/index.ts";
import { type PostgresOptions, postgres } from "../../src/store/postgres/index.ts";
import type { Store } from "../../src/store/store.ts";
import { recordCalls } from "../hooks/support/handlers.ts";
import { LogBook } from "../hooks/support/log-book.ts";
import { createCountingPool, StatementLog } from "../support/counting-pool.ts";
import { useFakeTime } from "../support/fake-time.ts";
import { createDatabase, type TestDatabase } from "../support/postgres-database.ts";
import { waitUntil } from "../support/wait-until.ts";

const LISTEN = /^listen/i;

let database: TestDatabase;
let log: StatementLog;
let pool: Pool;
const clients: Client[] = [];

beforeEach(async () => {
  database = await createDatabase();
  log = new StatementLog();
  pool = createCountingPool(database.url, log);
});

afterEach(async () => {
  vi.useRealTimers();
  for (const client of clients.splice(0)) await client.end();
  await pool.end();
  await database.drop();
});

/** What a process hears that listens to the announcements of a schema. */
async function listen(): Promise<{ heard: unknown[] }> {
  const client = new Client({ connectionString: database.url });
  clients.push(client);
  await client.connect();
  const heard: unknown[] = [];
  client.on("notification", ({ payload }) => heard.push(JSON.parse(payload ?? "")));
  await client.query("listen perdure_perdure");
  return { heard };
}

function open(options: PostgresOptions = {}): Store {
  return postgres(pool, options).store;
}

test("a burst of announcements is one at once and one for the rest, the last included", async () => {
  const ears = await listen();
  const store = open();
  useFakeTime();
  for (let number = 0; number < 100; number++) store.engine.wakeups.announce(`namespace ${number}`);
  await waitUntil("the first was heard", () => ears.heard.length === 1);
  vi.advanceTimersByTime(1000);
  await waitUntil("the rest was heard", () => ears.heard.length === 2);
  vi.advanceTimersByTime(1000);
  store.engine.wakeups.announce("later");
  await waitUntil("a later one was heard", () => ears.heard.length === 3);

  const rest = Array.from({ length: 99 }, (_, index) => `namespace ${index + 1}`);
  expect(ears.heard).toEqual([["namespace 0"], rest, ["later"]]);
  vi.useRealTimers();
  await store.close();
});

test("pending announcements are sent before the database is closed", async () => {
  const ears = await listen();
  const store = open();
  useFakeTime(); // time stands still: no timer sends the second
  store.engine.wakeups.announce("first");
  store.engine.wakeups.announce("second");
  await store.close();
  await waitUntil("both were heard", () => ears.heard.length === 2);

  expect(ears.heard.toSorted()).toEqual([["first"], ["second"]]);
});

test("a transaction of the application that commits right before its process stops is announced", async () => {
  const ears = await listen();
  const writer = await perdure({
    database: database.url,
    hooks: { greet: defineHook((_: string) => {}) },
    worker: false,
  });
  const own = new Client({ connectionString: database.url });
  clients.push(own);
  await own.connect();
  useFakeTime(); // time stands still: nothing is asked by a timer
  await own.query("begin");
  await writer.within(fromPg(own)).triggerHook("greet", "ada");
  await own.query("commit");
  expect(ears.heard).toEqual([]);
  await writer.stop();
  await waitUntil("it was heard", () => ears.heard.length > 0);

  expect(ears.heard[0]).toEqual(["app"]);
});

test("an announcement that fails is sent again", async () => {
  const ears = await listen();
  log.refused = /pg_notify/;
  log.refusals = 2;
  const store = open();
  store.engine.wakeups.announce("first");
  await waitUntil("it was heard", () => ears.heard.length === 1);
  await store.close();

  expect(log.matching(/pg_notify/)).toHaveLength(3);
});

test("an announcement that keeps failing is given up", async () => {
  log.refused = /pg_notify/;
  const store = open();
  store.engine.wakeups.announce("first");
  await store.close();

  expect(log.matching(/pg_notify/)).toHaveLength(3);
});

test("a notice that isn't ours means to look everywhere", async () => {
  const greet = recordCalls<string>();
  const app = await perdure({
    database: postgres(pool),
    hooks: { greet: greet.definition },
    worker: { pollIntervalMs: 86_400_000 },
  });
  await waitUntil("it listens", () => log.matching(LISTEN).length === 1 && log.inFlight === 0);
  const other = await perdure({
    database: database.url,
    hooks: { greet: defineHook((_: string) => {}) },
    worker: false,
  });
  // Written without the library, and so without an announcement.
  await other.unitOfWork(async (uow) => {
    await uow.sql`insert into perdure.hook (namespace, id, name, class, available_at, attempts, created_at, triggered_at, payload)
      values ('app', 'one', 'greet', 1, 0, 0, 0, 0, '"ada"')`;
    await uow.sql`select pg_notify('perdure_perdure', 'not JSON')`;
  });
  await waitUntil("it ran", () => greet.payloads.includes("ada"));
  await other.stop();
  await app.stop();
});

test("polling is enough where LISTEN is refused, and the log says so once", async () => {
  log.refused = LISTEN;
  const logger = new LogBook();
  const greet = recordCalls<string>();
  const app = await perdure({
    database: postgres(pool, { logger }),
    hooks: { greet: greet.definition },
    worker: { pollIntervalMs: 20 },
    logger,
  });
  await waitUntil("it has tried to listen twice", () => log.matching(LISTEN).length >= 2);
  const other = await perdure({
    database: database.url,
    hooks: { greet: defineHook((_: string) => {}) },
    worker: false,
  });
  for (const name of ["ada", "bob"]) {
    await other.hooks.greet.trigger(name);
    await waitUntil("it ran", () => greet.payloads.includes(name));
  }
  await other.stop();
  await app.stop();

  expect(logger.lines).toMatchObject([
    { level: "warn", details: { message: expect.stringContaining("not supported") } },
  ]);
});

test("listening begins again by itself where it was refused for a while, and what was missed is found", async () => {
  log.refused = LISTEN;
  const greet = recordCalls<string>();
  const logger = new LogBook();
  const app = await perdure({
    database: postgres(pool, { logger }),
    hooks: { greet: greet.definition },
    worker: { pollIntervalMs: 86_400_000 },
    logger,
  });
  await waitUntil("it has tried to listen", () => log.matching(LISTEN).length >= 2);
  const other = await perdure({
    database: database.url,
    hooks: { greet: defineHook((_: string) => {}) },
    worker: false,
  });
  await other.hooks.greet.trigger("missed");
  log.refused = undefined;
  await waitUntil("the missed one ran", () => greet.payloads.includes("missed"));
  await other.hooks.greet.trigger("heard");
  await waitUntil("the next one ran", () => greet.payloads.includes("heard"));
  await other.stop();
  await app.stop();
});

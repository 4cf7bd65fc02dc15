import { DatabaseSync } from "node:sqlite";
import Database from "better-sqlite3";
import pg from "pg";
import { afterEach, describe, expect, expectTypeOf, test } from "vitest";
import {
  defineHook,
  fromBetterSqlite3,
  fromNodeSqlite,
  fromPg,
  type HookDefinitions,
  type HookSummary,
  perdure,
  type TriggeredHook,
} from "../../src/index.ts";
import { DRIVERS, type TestStore } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";

interface Note {
  readonly text: string;
}

const opened: AsyncDisposable[] = [];

afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

function later(dispose: () => unknown): void {
  opened.push({ [Symbol.asyncDispose]: async () => void (await dispose()) });
}

async function openDatabase(name: "node:sqlite" | "better-sqlite3" | "postgres"): Promise<TestStore> {
  const engine = DRIVERS.find((one) => one.name === name);
  if (engine === undefined) throw new Error(`There is no engine ${name}.`);
  const database = await engine.create();
  later(() => database.dispose());
  return database;
}

/** An application on this database that keeps what its hook `note` was given. */
async function startApplication(database: TestStore) {
  const notes: string[] = [];
  const note = defineHook({}, (payload: Note) => void notes.push(payload.text));
  const app = await perdure({ database: database.adapter, hooks: { note } });
  later(() => app.stop());
  return { app, notes };
}

async function connect(database: TestStore): Promise<pg.Client> {
  const client = new pg.Client(database.location);
  await client.connect();
  later(() => client.end());
  return client;
}

function isNote(payload: unknown, text: string): boolean {
  return (payload as Note | undefined)?.text === text;
}

/** Rounded: a test that is slow must not fail. */
function hoursUntilDue({ availableAt, createdAt }: HookSummary): number {
  return Math.round((Number(availableAt) - Number(createdAt)) / 3_600_000);
}

/** A third of the time until a worker looks by itself. */
const LONG_BEFORE_THE_POLL_MS = 10_000;

describe("in a transaction of pg", () => {
  test("hooks and instances start soon after the commit, in this process and in another", async () => {
    const database = await openDatabase("postgres");
    const { app: worker, notes } = await startApplication(database);
    const idle = await perdure({
      database: database.location,
      hooks: { note: defineHook({}, (_: Note) => {}) },
      worker: false,
    });
    later(() => idle.stop());
    const client = await connect(database);
    for (const [text, app] of [
      ["here", worker],
      ["there", idle],
    ] as const) {
      await client.query("begin");
      await app.within(fromPg(client)).triggerHook("note", { text });
      await client.query("select pg_sleep(1)"); // by then it is looked after less often
      await client.query("commit");
      await waitUntil(`it runs ${text}`, () => notes.includes(text), LONG_BEFORE_THE_POLL_MS);
    }
  });

  test("hooks with limits stand in line after the commit", async () => {
    const database = await openDatabase("postgres");
    let running = 0;
    const begun: [text: string, running: number][] = [];
    const note = defineHook({ concurrency: { limit: 1 } }, async (payload: Note) => {
      begun.push([payload.text, ++running]);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
    });
    const app = await perdure({ database: database.adapter, hooks: { note } });
    later(() => app.stop());
    const client = await connect(database);
    await client.query("begin");
    const within = app.within(fromPg(client));
    for (const text of ["a", "b", "c"]) await within.triggerHook("note", { text });
    expect(begun).toEqual([]);
    await client.query("commit");
    await waitUntil("all have run", () => begun.length === 3);

    expect(begun.toSorted()).toEqual([
      ["a", 1],
      ["b", 1],
      ["c", 1],
    ]);
  });

  test("a hook runs after the commit, and not before", async () => {
    const database = await openDatabase("postgres");
    const { app, notes } = await startApplication(database);
    const client = await connect(database);
    await client.query("begin");
    await app.within(fromPg(client)).triggerHook("note", { text: "mine" });
    await app.hooks.note.trigger({ text: "other" });
    await waitUntil("the other hook has run", () => notes.includes("other"));
    expect(notes).toEqual(["other"]);
    await client.query("commit");
    await waitUntil("the hook has run", () => notes.includes("mine"));
    expect(notes).toEqual(["other", "mine"]);
  });

  test("a rollback takes the hook with it", async () => {
    const database = await openDatabase("postgres");
    const { app } = await startApplication(database);
    const client = await connect(database);
    await client.query("begin");
    await app.within(fromPg(client)).triggerHook("note", { text: "mine" });
    await app.within(fromPg(client)).triggerHook("note", { text: "keyed" }, { key: "k" });
    await client.query("rollback");
    expect((await app.durableHooks.list()).hooks).toEqual([]);
  });

  test("a trigger with a key that is held by a pending hook waits for no transaction, and collapses after the commit", async () => {
    const database = await openDatabase("postgres");
    const { app, notes } = await startApplication(database);
    const soon = new Date(Date.now() + 3_600_000);
    const first = await app.hooks.note.trigger({ text: "first" }, { key: "k", processAt: soon });
    const client = await connect(database);
    await client.query("begin");
    await app.within(fromPg(client)).triggerHook("note", { text: "second" }, { key: "k" });
    await app.hooks.note.trigger({ text: "third" }, { key: "k", processAt: soon }); // while the transaction is open
    expect((await app.durableHooks.get(first.id))?.payload).toEqual({ text: "third" });
    await client.query("commit");
    await waitUntil("the hook has run", () => notes.length > 0);
    await waitUntil("nothing is left", async () => (await app.durableHooks.list()).hooks.length === 0);
    expect(notes).toEqual(["third"]); // the relayed trigger was made before the third: the newest counts
  });

  test("two relayed triggers of one key run it once if it hasn't begun", async () => {
    const database = await openDatabase("postgres");
    const { app, notes } = await startApplication(database);
    const client = await connect(database);
    const processAt = new Date(Date.now() + 3_600_000);
    await client.query("begin");
    await app.within(fromPg(client)).triggerHook("note", { text: "one" }, { key: "k", processAt });
    await app.within(fromPg(client)).triggerHook("note", { text: "two" }, { key: "k", processAt });
    await client.query("commit");
    const [hook] = await waitUntil("both are relayed", async () => {
      const { hooks } = await app.durableHooks.list();
      return hooks.length === 1 && hooks[0]?.name === "note" && hooks;
    });
    expect(hook?.key).toBe("k");
    expect(notes).toEqual([]);
  });

  test("a relayed trigger puts off a debounced hook", async () => {
    const database = await openDatabase("postgres");
    const { app } = await startApplication(database);
    const { id } = await app.hooks.note.trigger({ text: "one" }, { key: "k", debounce: "1 hour" });
    const client = await connect(database);
    await client.query("begin");
    await app.within(fromPg(client)).triggerHook("note", { text: "two" }, { key: "k", debounce: "2 hours" });
    await client.query("commit");
    const hook = await waitUntil("it is relayed", async () => {
      const [only, ...others] = (await app.durableHooks.list()).hooks;
      return others.length === 0 && isNote(only?.payload, "two") && only;
    });
    expect(hook.id).toBe(id);
    expect(hoursUntilDue(hook)).toBe(2);
  });

  test("the same id twice is one hook", async () => {
    const database = await openDatabase("postgres");
    const { app, notes } = await startApplication(database);
    const client = await connect(database);
    for (const text of ["one", "two"]) {
      await client.query("begin");
      await app.within(fromPg(client)).triggerHook("note", { text }, { id: "once" });
      await client.query("commit");
    }
    await waitUntil("it is completed", async () => (await app.durableHooks.get("note/once"))?.status === "completed");
    expect(notes).toEqual(["one"]);
  });

  test.each(["pg", "older pg"])("nothing is written outside a transaction of %s", async (version) => {
    const database = await openDatabase("postgres");
    const { app, notes } = await startApplication(database);
    const client = await connect(database);
    const query = client.query.bind(client) as (text: string, parameters?: unknown[]) => Promise<pg.QueryResult>;
    const transaction = fromPg(version === "pg" ? client : { query });
    const trigger = app.within(transaction).triggerHook("note", { text: "mine" });
    await expect(trigger).rejects.toMatchObject({ code: "transaction.not_open" });
    await query("begin");
    await app.within(transaction).triggerHook("note", { text: "within" });
    await query("commit");
    await waitUntil("the hook has run", () => notes.includes("within"));
    expect(notes).toEqual(["within"]);
  });

  test("a pool is refused", async () => {
    const pool = new pg.Pool({ connectionString: "postgres://localhost/none" });
    later(() => pool.end());
    expect(() => fromPg(pool)).toThrow(expect.objectContaining({ code: "transaction.invalid" }));
  });
});

const SQLITE = [
  {
    name: "node:sqlite" as const,
    open: (path: string) => {
      const handle = new DatabaseSync(path);
      later(() => handle.close());
      return { execute: (text: string) => handle.exec(text), transaction: fromNodeSqlite(handle) };
    },
  },
  {
    name: "better-sqlite3" as const,
    open: (path: string) => {
      const handle = new Database(path);
      later(() => handle.close());
      return { execute: (text: string) => handle.exec(text), transaction: fromBetterSqlite3(handle) };
    },
  },
];

describe.each(SQLITE)("in a transaction of $name", ({ name, open }) => {
  test("a hook runs after the commit, with and without a key", async () => {
    const database = await openDatabase(name);
    const { app, notes } = await startApplication(database);
    const { execute, transaction } = open(database.location);
    execute("begin");
    const { id } = app.within(transaction).triggerHook("note", { text: "plain" });
    app.within(transaction).triggerHook("note", { text: "old" }, { key: "k" });
    app.within(transaction).triggerHook("note", { text: "new" }, { key: "k" });
    expect(await app.durableHooks.get(id)).toBeNull();
    execute("commit");
    await waitUntil("both have run", () => notes.length === 2);
    expect(notes.sort()).toEqual(["new", "plain"]);
  });

  test("a trigger puts off a debounced hook", async () => {
    const database = await openDatabase(name);
    const { app } = await startApplication(database);
    const { execute, transaction } = open(database.location);
    const { id } = await app.hooks.note.trigger({ text: "one" }, { key: "k", debounce: "1 hour" });
    execute("begin");
    app.within(transaction).triggerHook("note", { text: "two" }, { key: "k", debounce: "2 hours" });
    execute("commit");
    const { hooks } = await app.durableHooks.list();
    expect(hooks).toMatchObject([{ id, payload: { text: "two" } }]);
    expect(hooks.map(hoursUntilDue)).toEqual([2]);
  });

  test("a rollback takes the hook with it", async () => {
    const database = await openDatabase(name);
    const { app } = await startApplication(database);
    const { execute, transaction } = open(database.location);
    execute("begin");
    app.within(transaction).triggerHook("note", { text: "mine" });
    execute("rollback");
    expect((await app.durableHooks.list()).hooks).toEqual([]);
  });

  test("nothing is written outside a transaction", async () => {
    const database = await openDatabase(name);
    const { app } = await startApplication(database);
    const { transaction } = open(database.location);
    const trigger = () => app.within(transaction).triggerHook("note", { text: "mine" });
    expect(trigger).toThrow(expect.objectContaining({ code: "transaction.not_open" }));
    expect((await app.durableHooks.list()).hooks).toEqual([]);
  });

  test("a transaction of another database is refused", async () => {
    const { app } = await startApplication(await openDatabase("postgres"));
    const { transaction } = open(":memory:");
    expect(() => app.within(transaction)).toThrow(expect.objectContaining({ code: "transaction.invalid" }));
  });
});

test("bad input is refused as everywhere else, and what isn't a transaction too", async () => {
  const { app } = await startApplication(await openDatabase("node:sqlite"));
  expect(() => app.within({} as never)).toThrow(expect.objectContaining({ code: "transaction.invalid" }));
  const transaction = fromNodeSqlite(new DatabaseSync(":memory:"));
  const unknown = () => (app.within(transaction) as unknown as Loose).triggerHook("other", {});
  expect(unknown).toThrow(expect.objectContaining({ code: "hook.unknown" }));
});

interface Loose {
  triggerHook(name: string, payload: unknown): unknown;
}

test("a synchronous transaction gives the id at once, an asynchronous one a promise", () => {
  type App = Awaited<ReturnType<typeof startApplication>>["app"];
  const types = (app: App) => ({
    sync: () => app.within(fromNodeSqlite({} as DatabaseSync)).triggerHook("note", { text: "" }),
    async: () => app.within(fromPg({} as pg.Client)).triggerHook("note", { text: "" }),
    // @ts-expect-error there is no such hook
    unknown: () => app.within(fromPg({} as pg.Client)).triggerHook("other", {}),
  });
  expectTypeOf<ReturnType<ReturnType<typeof types>["sync"]>>().toEqualTypeOf<TriggeredHook>();
  expectTypeOf<ReturnType<ReturnType<typeof types>["async"]>>().toEqualTypeOf<Promise<TriggeredHook>>();
  expectTypeOf<HookDefinitions>().not.toBeAny();
});

test("a database of SQLite that was closed is refused", async () => {
  const database = await openDatabase("node:sqlite");
  const { app } = await startApplication(database);
  const own = new DatabaseSync(database.location);
  own.exec("begin");
  const within = app.within(fromNodeSqlite(own));
  own.close();

  expect(() => within.triggerHook("note", { text: "mine" })).toThrow(
    expect.objectContaining({ code: "transaction.not_open" }),
  );
  expect(() => fromNodeSqlite(own)).toThrow(expect.objectContaining({ code: "transaction.invalid" }));
});

import pg from "pg";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { defineHook, defineWorkflow, PerdureError, perdure, type WorkflowEvent } from "../../src/index.ts";
import { DRIVERS, type TestEngine } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { DRIVER_LIBRARIES } from "./support/drivers.ts";
import { MAPPERS, removeGeneratedPrisma } from "./support/mappers.ts";
import type { Isolation, Library, OwnTransaction } from "./support/own-transaction.ts";
import { QUERY_BUILDERS } from "./support/query-builders.ts";

const LIBRARIES: readonly Library[] = [...DRIVER_LIBRARIES, ...QUERY_BUILDERS, ...MAPPERS];
const LEVELS: readonly Isolation[] = ["read committed", "repeatable read", "serializable"];

const engine = DRIVERS.find(({ name }) => name === "postgres") as TestEngine;
const opened: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

afterAll(removeGeneratedPrisma);

const quick = defineWorkflow({ name: "quick" }, async (event: WorkflowEvent<unknown>) => event.payload);
const waiting = defineWorkflow({ name: "waiting" }, async (_event: WorkflowEvent<unknown>, step) => {
  return (await step.waitForEvent<unknown>("note", { type: "note", timeout: "1 hour" })).payload;
});

async function start(library: Library) {
  const database = await engine.create();
  opened.push(() => database.dispose());
  const notes: unknown[] = [];
  const note = defineHook({}, (payload: unknown) => void notes.push(payload));
  const app = await perdure({ database: database.adapter, hooks: { note }, workflows: { quick, waiting } });
  opened.push(() => app.stop());
  const own = await library.open(database.location);
  opened.push(() => own.close());
  await own.transact(({ query }) => query("create table orders (id text primary key)"));
  const within = ({ transaction }: OwnTransaction) => app.within(transaction);
  const orders = () => countOrders(database.location);
  const isEmpty = async () => {
    const hooks = (await app.durableHooks.list()).hooks.length;
    return hooks + (await app.workflows.quick.list()).instances.length === 0 && notes.length === 0;
  };
  return { app, own, notes, within, orders, isEmpty };
}

/** Of a connection beside the library's: only what is committed counts. */
async function countOrders(url: string): Promise<number> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return Number((await client.query("select count(*) as orders from orders")).rows[0].orders);
  } finally {
    await client.end();
  }
}

/**
 * Quotes, a question mark, a dollar, a backslash, a colon: whatever a library could take for its own. And texts that PostgreSQL's
 * own can't be, which are stored as escapes in JSON.
 */
const HARD = {
  text: `it's "?" $1 ?? :name \\ {} ünï`,
  list: [1, null, { deep: ["x"] }],
  escaped: "a nul \0, and half of a pair \ud83d",
};

describe.each(LIBRARIES)("in a transaction of $name", (library) => {
  test.each(LEVELS)("hooks, instances and events commit together with its writes (%s)", async (level) => {
    const { app, own, notes, within, orders } = await start(library);
    await own.transact(async (tx) => {
      await tx.query("insert into orders values ('a')");
      await within(tx).triggerHook("note", HARD);
      await within(tx).triggerHook("note", "keyed", { key: "k" });
      await within(tx).workflows.quick.create({ id: "q", params: HARD, labels: { tenant: "t?" } });
      await within(tx).workflows.waiting.createOrSend({ id: "w", event: { type: "note", payload: HARD } });
    }, level);
    expect(await (await app.workflows.quick.get("q")).result()).toEqual(HARD);
    expect(await (await app.workflows.waiting.get("w")).result()).toEqual(HARD);
    await waitUntil("both hooks have run", () => notes.length === 2);
    expect(notes).toEqual(expect.arrayContaining([HARD, "keyed"]));
    expect(await orders()).toBe(1);
  });

  test("an error midway takes everything with it", async () => {
    const { own, within, orders, isEmpty } = await start(library);
    const failing = own.transact(async (tx) => {
      await tx.query("insert into orders values ('a')");
      await within(tx).triggerHook("note", "lost");
      await within(tx).workflows.quick.create({ id: "q" });
      throw new Error("midway");
    });
    await expect(failing).rejects.toThrow("midway");
    expect(await orders()).toBe(0);
    expect(await isEmpty()).toBe(true);
  });

  test("a savepoint that is rolled back takes its own work with it, and the rest commits", async () => {
    const { app, own, within } = await start(library);
    await own.transact(async (tx) => {
      await within(tx).workflows.quick.create({ id: "before" });
      const inner = tx.savepoint(async (savepoint) => {
        await within(savepoint).workflows.quick.create({ id: "inside" });
        throw new Error("back");
      });
      await expect(inner).rejects.toThrow("back");
      return within(tx).workflows.quick.create({ id: "after" });
    });
    const ids = (await app.workflows.quick.list()).instances.map(({ id }) => id);
    expect(ids.sort()).toEqual(["after", "before"]);
  });

  test("calls that are made at the same time commit together, each object of its own", async () => {
    const { app, own, within } = await start(library);
    const ids = Array.from({ length: 12 }, (_, index) => `q${index}`).sort();
    await own.transact((tx) => Promise.all(ids.map((id) => within(tx).workflows.quick.create({ id }))));
    expect((await app.workflows.quick.list()).instances.map(({ id }) => id).sort()).toEqual(ids);
  });

  test("an object isn't taken for one of the connection's next transaction", async () => {
    const { app, own } = await start(library);
    let kept: ReturnType<typeof app.within> | undefined;
    await own.transact(async (tx) => {
      kept = app.within(tx.transaction);
      await kept.workflows.quick.create({ id: "first" });
    });
    await own.transact(async (tx) => {
      await tx.query("select 1");
      const late = Promise.resolve(kept?.workflows.quick.create({ id: "late" }));
      await expect(late).rejects.toMatchObject({ code: "transaction.not_open" });
    });
    expect((await app.workflows.quick.list()).instances.map(({ id }) => id)).toEqual(["first"]);
  });

  test("the library's client isn't taken for a transaction", async () => {
    const { app, own, isEmpty } = await start(library);
    const trigger = async () => app.within(own.wrapClient()).triggerHook("note", "lost");
    await expect(trigger).rejects.toMatchObject({
      code: expect.stringMatching(/^transaction\.(not_open|invalid)$/),
    });
    expect(await isEmpty()).toBe(true);
  });

  test("a finished transaction is refused", async () => {
    const { own, within, isEmpty } = await start(library);
    let kept: OwnTransaction | undefined;
    await own.transact(async (tx) => {
      kept = tx;
      await tx.query("select 1");
    });
    const trigger = async () => within(kept as OwnTransaction).triggerHook("note", "lost");
    await expect(trigger).rejects.toMatchObject({ code: "transaction.not_open" });
    expect(await isEmpty()).toBe(true);
  });

  test("a call after a caught SQL error gives the driver's error as its cause", async () => {
    const { own, within, isEmpty } = await start(library);
    const failing = own.transact(async (tx) => {
      await expect(tx.query("select * from missing")).rejects.toThrow();
      await within(tx).triggerHook("note", "lost");
    });
    await expect(failing).rejects.toMatchObject({ code: "transaction.rolled_back", cause: expect.any(Error) });
    expect(await isEmpty()).toBe(true);
  });

  test("an error of the driver is the cause of a PerdureError, and takes the transaction with it", async () => {
    const { own, within, isEmpty } = await start(library);
    const failing = own.transact(async (tx) => {
      await tx.query("set transaction read only");
      await within(tx).workflows.quick.create({ id: "q" });
    });
    await expect(failing).rejects.toBeInstanceOf(PerdureError);
    await expect(failing).rejects.toMatchObject({ code: "transaction.failed", cause: expect.any(Error) });
    expect(await isEmpty()).toBe(true);
  });

  test("a call that isn't awaited leaves nothing behind when the transaction rolls back", async () => {
    const { own, within, app } = await start(library);
    const late: Promise<unknown>[] = [];
    const rolledBack = own.transact(async (tx) => {
      await tx.query("select 1");
      for (const id of ["a", "b", "c"]) late.push(within(tx).workflows.quick.create({ id }));
      for (const call of late) call.catch(() => {});
      throw new Error("no");
    });
    await expect(rolledBack).rejects.toThrow("no");
    await Promise.allSettled(late);
    expect((await app.workflows.quick.list()).instances).toEqual([]);
  });

  test("a call that isn't awaited is either part of the transaction or refused", async () => {
    const { app, own, within } = await start(library);
    let late: Promise<unknown> = Promise.resolve();
    await own
      .transact(async (tx) => {
        await tx.query("select 1");
        late = within(tx).workflows.quick.create({ id: "q" });
        late.catch(() => {});
      })
      .catch(() => {});
    const outcome = await late.then(
      () => "written",
      ({ code }: PerdureError) => code,
    );
    expect(["written", "transaction.not_open"]).toContain(outcome);
    const { instances } = await app.workflows.quick.list();
    expect(instances).toHaveLength(outcome === "written" ? 1 : 0);
  });
});

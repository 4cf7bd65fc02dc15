import pg from "pg";
import { afterEach, describe, expect, test } from "vitest";
import { createDurableHooksProcessor, type DurableHooksProcessor } from "../../src/fragment/create-processor.ts";
import { defineFragment } from "../../src/fragment/define-fragment.ts";
import { instantiate } from "../../src/fragment/instantiate.ts";
import {
  type AsyncTransaction,
  defineHook,
  defineWorkflow,
  fromPg,
  perdure,
  type WorkflowEvent,
} from "../../src/index.ts";
import type { ProcessorSource } from "../../src/queue/processor.ts";
import type { Work } from "../../src/queue/work.ts";
import type { WorkNotice } from "../../src/store/queue/work-board.ts";
import { DRIVERS, type TestEngine } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";

const postgres = DRIVERS.find(({ name }) => name === "postgres") as TestEngine;
const LEVELS = ["read committed", "repeatable read", "serializable"];
const opened: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const quick = defineWorkflow({ name: "quick" }, async (event: WorkflowEvent<unknown>) => event.payload);
const waiting = defineWorkflow({ name: "waiting" }, async (_event: WorkflowEvent<unknown>, step) => {
  return (await step.waitForEvent<unknown>("note", { type: "note", timeout: "1 hour" })).payload;
});

async function start() {
  const database = await postgres.create();
  opened.push(() => database.dispose());
  const notes: unknown[] = [];
  const hooks = { note: defineHook((payload: unknown) => void notes.push(payload)) };
  const app = await perdure({ database: database.adapter, hooks, workflows: { quick, waiting } });
  opened.push(() => app.stop());
  const connect = async () => {
    const client = new pg.Client(database.location);
    await client.connect();
    opened.push(() => client.end());
    return client;
  };
  return { app, notes, database, client: await connect(), connect };
}

async function isSettled(client: pg.Client): Promise<boolean> {
  const due = "select available_at from perdure.hook union all select available_at from perdure.instance";
  return (await client.query(`select from (${due}) as row where available_at is not null`)).rowCount === 0;
}

describe.each(LEVELS)("in a transaction of PostgreSQL that is %s", (level) => {
  test("an id of an instance that changes meanwhile is no error, unless the level is serializable", async () => {
    const { app, client } = await start();
    await app.workflows.waiting.create({ id: "changing" });
    await waitUntil(
      "it waits",
      async () => (await (await app.workflows.waiting.get("changing")).status()).status === "waiting",
    );
    await client.query(`begin isolation level ${level}`);
    await client.query("select 1 from perdure.migration"); // takes the snapshot
    await (await app.workflows.waiting.get("changing")).pause();
    const within = app.within(fromPg(client)).workflows.waiting;
    const created = within.create({ id: "changing", onConflict: "return" });
    if (level === "serializable") await expect(created).rejects.toMatchObject({ cause: { code: "40001" } });
    else {
      expect(await created).toEqual({ id: "changing" });
      const { rows } = await client.query("select created from perdure.create_workflow('waiting', 'changing')");
      expect(rows).toEqual([{ created: false }]);
    }
    await client.query("rollback");
  });

  test("an expected conflict ends no transaction: ids that exist, events that are repeated or have no recipient", async () => {
    const { app, notes, client } = await start();
    await app.workflows.quick.create({ id: "taken", params: "first" });
    await app.hooks.note.trigger("first", { id: "n" });
    // What is changed by others while it is open ends a serializable transaction.
    if (level === "serializable") await waitUntil("all is settled", () => isSettled(client));
    await client.query("create table orders (id text)");
    await client.query(`begin isolation level ${level}`);
    const within = app.within(fromPg(client));
    await expect(within.workflows.quick.create({ id: "taken" })).rejects.toMatchObject({
      code: "instance.already_exists",
    });
    expect(await within.workflows.quick.create({ id: "taken", onConflict: "return" })).toEqual({ id: "taken" });
    expect(await within.workflows.quick.createBatch([{ id: "taken" }, { id: "new" }, { id: "new" }])).toEqual([
      { id: "new" },
    ]);
    expect(await within.triggerHook("note", "second", { id: "n" })).toEqual({ id: "note/n" });
    for (const payload of ["first", "second"]) {
      const event = { type: "note", payload, id: "once" };
      await within.workflows.waiting.createOrSend({ id: "w", event });
    }
    await within.workflows.waiting.sendEvent({ to: "missing", type: "note" });
    await client.query("insert into orders values ('a')");
    await client.query("commit");
    expect((await client.query("select from orders")).rowCount).toBe(1);
    expect(await (await app.workflows.waiting.get("w")).result()).toBe("first");
    expect(await (await app.workflows.quick.get("new")).result()).toBeUndefined();
    await waitUntil("the hook has run", () => notes.length > 0);
    expect(notes).toEqual(["first"]);
  });

  test("an id that another transaction has created since is found, or ends the transaction as the level demands", async () => {
    const { app, client } = await start();
    await client.query(`begin isolation level ${level}`);
    await client.query("select 1"); // takes the snapshot
    await app.workflows.quick.create({ id: "same" });
    const created = app.within(fromPg(client)).workflows.quick.create({ id: "same", onConflict: "return" });
    if (level === "read committed") expect(await created).toEqual({ id: "same" });
    else {
      await expect(created).rejects.toMatchObject({ code: "transaction.failed", cause: { code: "40001" } });
    }
    await client.query("rollback");
  });
});

test("a statement for the caller's transaction carries no NOTIFY", async () => {
  const { app, client } = await start();
  const texts: string[] = [];
  const transaction = fromPg(client);
  const execute: AsyncTransaction["execute"] = (text, parameters) => {
    texts.push(text);
    return transaction.execute(text, parameters);
  };
  await client.query("begin");
  const within = app.within({ ...transaction, execute });
  await within.triggerHook("note", 1);
  await within.triggerHook("note", 2, { key: "k" });
  await within.workflows.waiting.createOrSend({ id: "w", event: { type: "note" } });
  await client.query("commit");
  expect(texts.length).toBeGreaterThan(3);
  expect(texts.filter((text) => /notify/i.test(text))).toEqual([]);
});

test("work that a process without a worker writes in a transaction is run by another process", async () => {
  const { notes, database, client } = await start();
  const hooks = { note: defineHook((_payload: unknown) => {}) };
  const writer = await perdure({ database: database.reopen(), worker: false, hooks });
  opened.push(() => writer.stop());
  await client.query("begin");
  await writer.within(fromPg(client)).triggerHook("note", "from afar");
  await client.query("commit");
  await waitUntil("it has run", () => notes.length > 0);
  expect(notes).toEqual(["from afar"]);
});

test("a worker that releases a relay before it begins looks again", async () => {
  const database = await postgres.create();
  opened.push(() => database.dispose());
  const note = defineHook((_payload: unknown) => {});
  const writer = await perdure({ database: database.reopen(), worker: false, hooks: { note } });
  opened.push(() => writer.stop());
  const client = new pg.Client(database.location);
  await client.connect();
  opened.push(() => client.end());
  await client.query("begin");
  await writer.within(fromPg(client)).triggerHook("note", "relayed", { key: "k" });
  await client.query("commit");

  const definition = defineFragment("app")
    .provideHooks(() => ({ note }))
    .build();
  const fragment = instantiate(definition).withOptions({ databaseAdapter: database.adapter }).build();
  const processor = createDurableHooksProcessor(fragment) as DurableHooksProcessor;
  const source = processor.sources.find(({ kind }) => kind === "hook") as ProcessorSource;
  const request = { limit: 1, takeOver: false, mostLost: 0, lock: "a claim", leaseMs: 30_000 };
  const [relay] = (await source.claim(request)) as [Work];
  const notices: WorkNotice[] = [];
  database.store.work.join({ notice: (notice) => notices.push(notice) > 0, reserve: () => null });
  await relay.release();
  expect(notices).toContainEqual({ namespace: "app", delayMs: 0 });
});

test("thirty concurrent transactions of the application all commit what they write", async () => {
  const { app, notes, connect } = await start();
  const clients = await Promise.all(Array.from({ length: 30 }, connect));
  const write = async (client: pg.Client, index: number) => {
    await client.query("begin");
    const within = app.within(fromPg(client));
    await within.triggerHook("note", index);
    await within.triggerHook("note", `keyed ${index}`, { key: `k${index % 3}` });
    await within.workflows.quick.create({ id: `q${index}`, params: index });
    await client.query(index % 3 === 0 ? "rollback" : "commit");
  };
  await Promise.all(clients.map(write));
  const committed = Array.from({ length: 30 }, (_, index) => index).filter((index) => index % 3 !== 0);
  await waitUntil("the hooks without a key have run", () => committed.every((index) => notes.includes(index)));
  for (const index of committed) expect(await (await app.workflows.quick.get(`q${index}`)).result()).toBe(index);
  await waitUntil("nothing is left", async () => (await app.durableHooks.list()).hooks.length === 0);
  expect(notes.filter((note) => typeof note === "number").sort()).toEqual([...committed].sort());
  expect(notes).not.toContain("keyed 0");
});

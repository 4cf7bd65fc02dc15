import pg from "pg";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { defineHook, defineWorkflow, perdure, type WorkflowEvent } from "../../src/index.ts";
import { readDocument } from "../docs/support/samples.ts";
import { DRIVERS, ENCRYPTED, type TestEngine } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";

const postgres = DRIVERS.find(({ name }) => name === "postgres") as TestEngine;
const encrypted = ENCRYPTED.find(({ dialect }) => dialect === "postgres") as TestEngine;
const opened: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const quick = defineWorkflow({ name: "quick" }, async (event: WorkflowEvent<unknown>) => event.payload);
const typed = defineWorkflow(
  { name: "typed", input: z.object({ at: z.coerce.date() }) },
  async (event) => event.payload,
);
const waiting = defineWorkflow({ name: "waiting" }, async (_event: WorkflowEvent<unknown>, step) => {
  const notes: unknown[] = [];
  while (notes.at(-1) !== "end") {
    const { payload } = await step.waitForEvent<unknown>("note", { type: "note", timeout: "1 hour" });
    notes.push(payload ?? "nothing");
  }
  return notes;
});

async function start(engine = postgres) {
  const database = await engine.create();
  opened.push(() => database.dispose());
  const notes: unknown[] = [];
  const running = { now: 0, most: 0 };
  const single = defineWorkflow({ name: "single", concurrency: { limit: 1 } }, async () => {
    running.most = Math.max(running.most, ++running.now);
    await new Promise((resolve) => setImmediate(resolve));
    running.now--;
  });
  const app = await perdure({
    database: database.adapter,
    hooks: {
      note: defineHook((payload: unknown) => void notes.push(payload)),
      dated: defineHook({ input: z.object({ at: z.coerce.date() }) }, (payload) => void notes.push(payload)),
    },
    workflows: { quick, typed, waiting, single },
  });
  opened.push(() => app.stop());
  const connect = async () => {
    const client = new pg.Client(database.location);
    await client.connect();
    opened.push(() => client.end());
    return client;
  };
  return { app, notes, running, client: await connect(), connect };
}

const isIdle = async ({ app }: Pick<Awaited<ReturnType<typeof start>>, "app">) =>
  (await app.durableHooks.list()).hooks.length === 0;

describe("perdure.trigger_hook", () => {
  test("gives the handler the payload as it was given, with SQL's null as undefined", async () => {
    const { notes, client } = await start();
    const payloads = [
      { text: `it's "?" \\ ünï`, list: [1, null, { deep: [true] }], $perdure: "Date", inner: { $perdure: 1 } },
      [{ $perdure: "undefined" }, []],
      "text",
      null,
    ];
    for (const payload of payloads) {
      await client.query("select perdure.trigger_hook('note', $1)", [JSON.stringify(payload)]);
    }
    await client.query("select perdure.trigger_hook('note')");
    await waitUntil("all have run", () => notes.length === payloads.length + 1);
    expect(notes).toEqual(expect.arrayContaining([...payloads, undefined]));
  });

  test("runs a hook from a row trigger when the row's transaction commits, and not when it rolls back", async () => {
    const context = await start();
    const { notes, client } = context;
    await client.query(`
      create table orders (id text primary key, total integer);
      create function notify_order() returns trigger language plpgsql as $$
      begin
        perform perdure.trigger_hook('note', to_jsonb(new));
        return null;
      end $$;
      create trigger order_placed after insert on orders for each row execute function notify_order()`);
    await client.query("begin; insert into orders values ('lost', 1); rollback");
    await client.query("insert into orders values ('a', 10), ('b', 20)");
    await waitUntil("both have run", () => notes.length >= 2);
    await waitUntil("nothing is left", () => isIdle(context));
    expect(notes).toHaveLength(2);
    expect(notes).toEqual(expect.arrayContaining(["a", "b"].map((id) => expect.objectContaining({ id }))));
  });

  test("keeps what a savepoint's rollback leaves", async () => {
    const context = await start();
    const { notes, client } = context;
    await client.query("begin; savepoint inner_one; select perdure.trigger_hook('note', '\"lost\"')");
    await client.query("rollback to savepoint inner_one; select perdure.trigger_hook('note', '\"kept\"'); commit");
    await waitUntil("it has run", () => notes.length > 0);
    await waitUntil("nothing is left", () => isIdle(context));
    expect(notes).toEqual(["kept"]);
  });

  test("does nothing a second time with the same id, and gives the same id", async () => {
    const context = await start();
    const { notes, client } = context;
    const trigger = async () => {
      const { rows } = await client.query(`select perdure.trigger_hook('note', '1', '{"id":"mail-1"}') as id`);
      return rows[0].id;
    };
    expect([await trigger(), await trigger()]).toEqual(["note/mail-1", "note/mail-1"]);
    await waitUntil("it has run", () => notes.length > 0);
    await trigger();
    await waitUntil("nothing is pending", async () =>
      (await context.app.durableHooks.list()).hooks.every(({ status }) => status === "completed"),
    );
    expect(notes).toEqual([1]);
  });

  test("lets the last trigger of a key win, in every transaction", async () => {
    const context = await start();
    const { notes, client } = context;
    for (let round = 0; round < 40; round++) {
      const call = (text: string) =>
        `select perdure.trigger_hook('note', '"${text}"', '{"key":"k ${round}","debounce":{"delay":5}}')`;
      await client.query(`begin; ${call("first")}; ${call("second")}; ${call("last")}; commit`);
    }
    await waitUntil("all are done", () => isIdle(context));
    expect(notes).toEqual(Array.from({ length: 40 }, () => "last"));
  });

  test("stores the time and the retries that it is given", async () => {
    const { app, client } = await start();
    const { rows } = await client.query(
      `select now() + interval '1 hour' as at, perdure.trigger_hook('note', null, jsonb_build_object(
        'processAt', now() + interval '1 hour', 'retries', '{"limit": 3, "delay": "1.5 seconds"}'::jsonb)) as id`,
    );
    expect((await app.durableHooks.list()).hooks).toMatchObject([{ id: rows[0].id, status: "pending" }]);
    const stored = (await client.query("select available_at, retries::text from perdure.hook")).rows[0];
    expect(Math.abs(Number(stored.available_at) - rows[0].at.getTime())).toBeLessThanOrEqual(1);
    expect(JSON.parse(stored.retries)).toEqual({ limit: 3, delay: 1500 });
  });

  test("has the hook's schema applied before the handler, and fails the hook at once if it doesn't pass", async () => {
    const { app, notes, client } = await start();
    await client.query(`select perdure.trigger_hook('dated', '{"at":"2026-01-02T03:04:05Z"}')`);
    await client.query(`select perdure.trigger_hook('dated', '{"at":"never"}')`);
    const dead = await waitUntil("one has failed", async () =>
      (await app.durableHooks.list({ status: "failed" })).hooks.at(0),
    );
    expect(dead).toMatchObject({ attempts: 1 });
    await waitUntil("the other has run", () => notes.length > 0);
    expect(notes).toEqual([{ at: new Date("2026-01-02T03:04:05Z") }]);
  });
});

describe("perdure.create_workflow", () => {
  test("creates an instance that is there when the transaction has committed", async () => {
    const { app, client } = await start();
    const { rows } = await client.query(
      `select * from perdure.create_workflow('quick', 'order-1', '{"total": 10}', '{"labels":{"tenant":"t","area":"a"},"priority":5}')`,
    );
    expect(rows).toEqual([{ instance_id: "order-1", created: true }]);
    const instance = await app.workflows.quick.get("order-1");
    expect(await instance.result()).toEqual({ total: 10 });
    const { instances } = await app.workflows.quick.list({ labels: { tenant: "t" } });
    expect(instances).toMatchObject([{ id: "order-1", labels: { area: "a", tenant: "t" } }]);
    expect((await client.query("select priority from perdure.instance")).rows).toEqual([{ priority: 5 }]);
  });

  test("makes an id where none is given, and rolls back with the transaction", async () => {
    const { app, client } = await start();
    await client.query("begin; select perdure.create_workflow('quick'); rollback");
    const { rows } = await client.query("select * from perdure.create_workflow('quick')");
    expect(await (await app.workflows.quick.get(rows[0].instance_id)).result()).toBeUndefined();
    expect((await app.workflows.quick.list()).instances).toHaveLength(1);
  });

  test("leaves an existing instance alone without an error, unless it is asked for one", async () => {
    const { client } = await start();
    const create = (options: string) =>
      client.query("select created from perdure.create_workflow('waiting', 'a', null, $1)", [options]);
    const created = [await create("{}"), await create('{"onConflict":"return"}')].map(({ rows }) => rows[0].created);
    expect(created).toEqual([true, false]);
    await expect(create('{"onConflict":"error"}')).rejects.toMatchObject({
      code: "23505",
      detail: "code: instance.already_exists",
    });
  });

  test("creates one instance of an id that many transactions create at the same time", async () => {
    const { app, connect } = await start();
    const create = async () => {
      const client = await connect();
      await client.query("begin");
      const { rows } = await client.query("select created from perdure.create_workflow('quick', 'same')");
      await client.query("commit");
      return rows[0].created as boolean;
    };
    const created = await Promise.all(Array.from({ length: 10 }, create));
    expect(created.filter(Boolean)).toHaveLength(1);
    expect((await app.workflows.quick.list()).instances).toHaveLength(1);
  });

  test("has the workflow's limit applied", async () => {
    const { app, running, client } = await start();
    await client.query("select perdure.create_workflow('single', 'n' || number) from generate_series(1, 20) as number");
    await waitUntil("all are complete", async () => {
      const { instances } = await app.workflows.single.list({ status: "complete" });
      return instances.length === 20;
    });
    expect(running.most).toBe(1);
  });

  test("has the workflow's schema applied, and ends the instance as errored if it doesn't pass", async () => {
    const { app, client } = await start();
    await client.query(`select perdure.create_workflow('typed', 'good', '{"at":"2026-01-02T03:04:05Z"}')`);
    await client.query(`select perdure.create_workflow('typed', 'bad', '{"at":"never"}')`);
    expect(await (await app.workflows.typed.get("good")).result()).toEqual({ at: new Date("2026-01-02T03:04:05Z") });
    await expect((await app.workflows.typed.get("bad")).result()).rejects.toThrow("didn't pass the schema");
  });

  test("has its params encrypted before the run begins", async () => {
    const { app, client } = await start(encrypted);
    await client.query(`select perdure.create_workflow('quick', 'a', '{"secret":"plain text"}')`);
    expect(await (await app.workflows.quick.get("a")).result()).toEqual({ secret: "plain text" });
    const { rows } = await client.query("select params::text from perdure.instance");
    expect(rows[0].params).not.toContain("plain text");
  });
});

describe("perdure.send_event", () => {
  test("reaches an instance of the same transaction, in the order of the calls, once per id", async () => {
    const { app, client } = await start();
    await client.query("begin; select perdure.create_workflow('waiting', 'w')");
    for (const note of [1, 2, 3]) await client.query("select perdure.send_event('waiting', 'w', 'note', $1)", [note]);
    const repeated = `select perdure.send_event('waiting', 'w', 'note', '"once"', '{"id":"e1"}') as id`;
    expect([(await client.query(repeated)).rows, (await client.query(repeated)).rows]).toEqual([
      [{ id: "e1" }],
      [{ id: "e1" }],
    ]);
    await client.query("select perdure.send_event('waiting', 'w', 'note')");
    await client.query(`select perdure.send_event('waiting', 'w', 'note', '"end"'); commit`);
    expect(await (await app.workflows.waiting.get("w")).result()).toEqual([1, 2, 3, "once", "nothing", "end"]);
  });
});

test("one statement can create an instance and send it an event", async () => {
  const { app, client } = await start();
  const { rows } = await client.query(`
    with created as (select * from perdure.create_workflow('waiting', 'one'))
    select perdure.send_event('waiting', created.instance_id, 'note', '"end"') is not null as sent from created`);
  expect(rows).toEqual([{ sent: true }]);
  expect(await (await app.workflows.waiting.get("one")).result()).toEqual(["end"]);
});

describe("an argument that isn't accepted", () => {
  test.each([
    ["trigger_hook('$relay')", "name.invalid"],
    ["trigger_hook(null)", "name.invalid"],
    ["trigger_hook('note', null, '[]')", "trigger.invalid"],
    [`trigger_hook('note', null, '{"when":1}')`, "trigger.invalid"],
    [`trigger_hook('note', null, '{"id":"a","key":"b"}')`, "trigger.invalid"],
    [`trigger_hook('note', null, '{"debounce":"1 second"}')`, "trigger.invalid"],
    [`trigger_hook('note', null, '{"key":"a","debounce":{"maxWait":1}}')`, "trigger.invalid"],
    [`trigger_hook('note', null, '{"key":"a","debounce":{"delay":2,"maxWait":1}}')`, "trigger.invalid"],
    [`trigger_hook('note', null, '{"key":7}')`, "text.invalid"],
    [`trigger_hook('note', null, '{"id":""}')`, "text.invalid"],
    [`trigger_hook('note', null, '{"id":"a\\u0001"}')`, "text.invalid"],
    [`trigger_hook('note', null, '{"processAt":"tomorrow"}')`, "trigger.invalid"],
    [`trigger_hook('note', null, '{"processAt":1.5}')`, "trigger.invalid"],
    [`trigger_hook('note', null, '{"retries":{"limit":-1}}')`, "retries.invalid"],
    [`trigger_hook('note', null, '{"retries":{"limit":"1"}}')`, "retries.invalid"],
    [`trigger_hook('note', null, '{"retries":{"backoff":"none"}}')`, "retries.invalid"],
    [`trigger_hook('note', null, '{"retries":{"delay":"soon"}}')`, "duration.invalid"],
    [`trigger_hook('note', null, '{"retries":{"delay":-1}}')`, "duration.invalid"],
    [`trigger_hook('note', null, '{"namespace":"a b"}')`, "name.invalid"],
    ["trigger_hook('note', to_jsonb(repeat('x', 1048576)))", "value.too_large"],
    ["trigger_hook('note', (repeat('[', 600) || repeat(']', 600))::jsonb)", "value.too_deep"],
    ["create_workflow('no spaces')", "workflow.invalid_name"],
    ["create_workflow('quick', '-a')", "id.invalid"],
    ["create_workflow('quick', '')", "id.invalid"],
    [`create_workflow('quick', 'a', null, '{"priority":101}')`, "create.invalid"],
    [`create_workflow('quick', 'a', null, '{"priority":"1"}')`, "create.invalid"],
    [`create_workflow('quick', 'a', null, '{"onConflict":"ignore"}')`, "create.invalid"],
    [`create_workflow('quick', 'a', null, '{"labels":["x"]}')`, "create.invalid"],
    [`create_workflow('quick', 'a', null, '{"labels":{"x":1}}')`, "create.invalid"],
    [`create_workflow('quick', 'a', null, '{"labels":{"no spaces":"x"}}')`, "create.invalid"],
    [`create_workflow('quick', 'a', null, '{"retention":{"successRetention":"long"}}')`, "duration.invalid"],
    ["send_event('waiting', null, 'note')", "id.invalid"],
    ["send_event('waiting', 'a', 'no spaces')", "id.invalid"],
    [`send_event('waiting', 'a', 'note', null, '{"id":"a/b"}')`, "id.invalid"],
    [`send_event('waiting', 'a', 'note', null, '{"key":"a"}')`, "event.invalid"],
  ])("is refused by %s", async (call, code) => {
    const { client } = await open();
    await expect(client.query(`select perdure.${call}`)).rejects.toMatchObject({
      code: "22023",
      detail: `code: ${code}`,
      hint: expect.stringMatching(/^(Give|The fields are) .+\.$/),
    });
  });

  let context: Promise<Awaited<ReturnType<typeof start>>> | undefined;
  const kept: (() => unknown)[] = [];

  /** One application serves all of them. */
  async function open() {
    context ??= start();
    const opening = await context;
    kept.push(...opened.splice(0));
    return opening;
  }

  test("leaves nothing behind", async () => {
    const { app } = await open();
    expect((await app.durableHooks.list()).hooks).toEqual([]);
    expect((await app.workflows.quick.list()).instances).toEqual([]);
    opened.push(...kept.splice(0));
  });
});

describe("a role without rights on the tables", () => {
  test("can call a function that it was granted, and nothing else", async () => {
    const { app, client, connect, notes } = await start();
    const role = `shop_${process.pid}_${Date.now()}`;
    await client.query(`create role ${role}`);
    const shop = await connect();
    opened.push(() => client.query(`drop owned by ${role}; drop role ${role}`));
    await client.query(`grant usage on schema perdure to ${role}`);
    await shop.query(`set role ${role}`);
    const denied = { code: "42501" };
    await expect(shop.query("select perdure.trigger_hook('note')")).rejects.toMatchObject(denied);
    await client.query(
      `grant execute on function perdure.trigger_hook, perdure.create_workflow, perdure.send_event to ${role}`,
    );
    await shop.query(`begin; select perdure.trigger_hook('note', '1', '{"key":"k"}')`);
    await shop.query("select perdure.create_workflow('waiting', 'w')");
    await shop.query(`select perdure.send_event('waiting', 'w', 'note', '"end"'); commit`);
    expect(await (await app.workflows.waiting.get("w")).result()).toEqual(["end"]);
    await waitUntil("the hook has run", () => notes.length === 1);
    await expect(shop.query("select * from perdure.hook")).rejects.toMatchObject(denied);
    await expect(shop.query("select perdure.create_id()")).rejects.toMatchObject(denied);
  });
});

describe("workers", () => {
  /** A worker that hears of nothing looks every thirty seconds. */
  const BEFORE_A_POLL_MS = 20_000;

  test("hear of fast commits by few notifications, and miss none of them", async () => {
    const { notes, client, connect } = await start();
    const listener = await connect();
    let notifications = 0;
    listener.on("notification", () => notifications++);
    await listener.query('listen "perdure_perdure"');
    for (let number = 0; number < 200; number++) {
      await client.query("select perdure.trigger_hook('note', $1)", [number]);
    }
    const commits = 200;
    await waitUntil("all have run", () => notes.length === commits, BEFORE_A_POLL_MS);
    expect(new Set(notes).size).toBe(commits);
    await listener.query("select");
    expect(notifications).toBeGreaterThan(0);
    expect(notifications).toBeLessThan(commits / 2);
    expect((await client.query("select from perdure.wake")).rowCount).toBe(0);
  });

  test("hear of a transaction at its commit, however long it took since the call", async () => {
    const { client, connect } = await start();
    const listener = await connect();
    const heard: string[] = [];
    listener.on("notification", ({ channel }) => heard.push(channel));
    await listener.query('listen "perdure_perdure"');
    await client.query("begin; select perdure.trigger_hook('note'); select perdure.trigger_hook('note')");
    await listener.query("select");
    expect(heard).toEqual([]);
    await client.query("commit");
    await listener.query("select");
    expect(heard).toContain("perdure_perdure");
  });
});

test.each(["read committed", "repeatable read", "serializable"])(
  "concurrent transactions don't fail each other (%s)",
  async (isolation) => {
    const { notes, connect } = await start();
    const clients = await Promise.all(Array.from({ length: 6 }, () => connect()));
    const run = async (client: pg.Client, index: number) => {
      for (let round = 0; round < 5; round++) {
        await client.query(`begin isolation level ${isolation}`);
        await client.query(`select perdure.trigger_hook('note', '1')`);
        await client.query("select perdure.create_workflow('quick', $1)", [`${index}-${round}`]);
        await client.query("commit");
      }
    };
    await Promise.all(clients.map(run));
    await waitUntil("all have run", () => notes.length === 30);
  },
);

test("the samples of the document run as they are written", async () => {
  const { app, client } = await start();
  const document = readDocument("docs/transactions.md");
  const samples = Array.from(document.matchAll(/```sql\n([\s\S]*?)```/g), ([, sample]) => sample as string);
  expect(samples).toHaveLength(3);
  const role = `shop_${process.pid}_${Date.now()}`;
  opened.push(() => client.query(`drop owned by ${role}; drop role ${role}`));
  for (const sample of samples) await client.query(sample.replaceAll(/\bshop\b/g, role));
  const { rows } = await client.query("select name, id from perdure.instance");
  expect(rows).toEqual([{ name: "checkout", id: "order-1" }]);
  const hooks = (await client.query("select name from perdure.hook where name <> '$relay'")).rows;
  expect(hooks).toEqual([{ name: "sendReceipt" }]);
  await waitUntil("the event was delivered", async () => {
    return (await client.query("select id from perdure.event")).rows.some(({ id }) => id === "own:payment-7");
  });
  expect((await app.durableHooks.list()).hooks).toHaveLength(1);
});

import { describe, expect, test } from "vitest";
import { defineWorkflow, perdure } from "../../src/index.ts";
import { ENCRYPTED, type TestEngine } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { isIdle, opened, start } from "./support/sql-callers.ts";

const encrypted = ENCRYPTED.find(({ dialect }) => dialect === "postgres") as TestEngine;

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
  test.each([{ versions: [2, 1] }, { versions: [2, undefined] }])(
    "gives an instance the newest version that the first process to claim it has, of $versions",
    async ({ versions: [newest, older] }) => {
      const { adapter, client } = await start();
      const versioned = (version?: number) =>
        defineWorkflow({ name: "versioned", ...(version === undefined ? {} : { version }) }, async () => version);
      const second = await perdure({
        database: adapter,
        workflows: { versioned: [versioned(newest), versioned(older)] },
      });
      opened.push(() => second.stop());
      await client.query("select * from perdure.create_workflow('versioned', 'one')");
      const instance = await second.workflows.versioned.get("one");
      expect(await instance.result()).toBe(2);
      expect(await instance.status()).toMatchObject({ version: 2 });
    },
  );

  test("creates an instance that exists when the transaction has committed", async () => {
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

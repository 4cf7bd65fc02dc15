import type pg from "pg";
import { describe, expect, test } from "vitest";
import { readDocument } from "../docs/support/samples.ts";
import { waitUntil } from "../support/wait-until.ts";
import { opened, start } from "./support/sql-callers.ts";

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
    [`trigger_hook('note', null, '{"processAt":"2026-02-30T00:00Z"}')`, "trigger.invalid"],
    [`trigger_hook('note', null, '{"processAt":"2026-02-28T25:00Z"}')`, "trigger.invalid"],
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

  test("learn of fast commits by few notifications, and miss none of them", async () => {
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

  test("learn of a transaction at its commit, however long it took since the call", async () => {
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

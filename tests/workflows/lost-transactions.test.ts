import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { defineWorkflow, perdure, StoreError } from "../../src/index.ts";
import { postgres } from "../../src/store/postgres/index.ts";
import { COMMIT } from "../support/cut-texts.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { ENGINES, type TestEngine, type TestStore } from "../support/engines.ts";

const silent = { info: () => {}, warn: () => {}, error: () => {} };
const TIMES = 20;

describe("a connection that is cut at the commit of a step's transaction", () => {
  const engine = ENGINES.find(({ dialect }) => dialect === "postgres") as TestEngine;
  let database: TestStore;
  let proxy: CuttingProxy;

  beforeAll(async () => {
    database = await engine.create();
    await query("create table ledger (id text, key text)");
  });
  afterAll(() => database.dispose());
  beforeEach(async () => {
    proxy = await CuttingProxy.start(database.location);
  });
  afterEach(() => proxy.stop());

  const query = (text: string) => database.store.engine.transaction((transaction) => transaction.query(text, []));

  test.each(["answer", "request"] as const)("before the %s came leaves one row for each step", async (cut) => {
    const calls = new Map<string, number>();
    const workflow = defineWorkflow({ name: "cut" }, async ({ instanceId }, step) =>
      step.transaction("write", async (tx, ctx) => {
        const call = (calls.get(instanceId) ?? 0) + 1;
        calls.set(instanceId, call);
        await tx.sql`insert into ledger (id, key) values (${instanceId}, ${ctx.idempotencyKey})`;
        if (call === 1) void proxy.cut(COMMIT, cut);
        return { attempt: ctx.attempt };
      }),
    );
    await using adapter = postgres(proxy.url, { logger: silent });
    await using app = await perdure({ database: adapter, workflows: { workflow }, namespace: cut, logger: silent });
    for (let time = 0; time < TIMES; time++) {
      const instance = await app.workflows.workflow.create({ id: `${cut}-${time}` });
      await expect(instance.result()).resolves.toEqual({ attempt: 1 });
    }

    const rows = await query(`select count(*) as rows, count(distinct id) as ids from ledger where id like '${cut}%'`);
    expect(rows.map(({ rows, ids }) => [Number(rows), Number(ids)])).toEqual([[TIMES, TIMES]]);
    expect([...calls.values()]).toEqual(Array(TIMES).fill(cut === "answer" ? 1 : 2));
  });

  test("before the answer came doesn't hide that the instance was paused", async () => {
    const ran: string[] = [];
    const target = { namespace: "paused", name: "cut", id: "one" };
    const workflow = defineWorkflow({ name: "cut" }, async (_event, step) => {
      // As another process does whose notification is lost.
      await step.transaction("write", async () => void (await database.store.engine.instances.pause(target)));
      await step.do("next", async () => void ran.push("next"));
    });
    await using adapter = postgres(proxy.url, { logger: silent });
    await using app = await perdure({
      database: adapter,
      workflows: { workflow },
      namespace: "paused",
      logger: silent,
    });
    const wasCut = proxy.cut(COMMIT, "answer");
    const instance = await app.workflows.workflow.create({ id: "one" });
    await wasCut;
    await expect.poll(async () => (await instance.status()).status).toBe("paused");
    expect(ran).toEqual([]);
    await instance.resume();
    await instance.result();
    expect(ran).toEqual(["next"]);
  });

  test("and a transaction that the database refuses to begin count as no attempt", async () => {
    await using adapter = postgres(proxy.url, { logger: silent });
    const { engine } = adapter.store;
    const begin = engine.transaction.bind(engine);
    let refusals = 0;
    const workflow = defineWorkflow({ name: "cut" }, async (_event, step) =>
      step.transaction("write", { retries: { limit: 0, delay: 0 } }, async (_tx, { attempt }) => attempt),
    );
    const given = { database: adapter, workflows: { workflow }, namespace: "refused", logger: silent };
    await using app = await perdure(given);
    Object.assign(engine, {
      transaction: (...parameters: Parameters<typeof begin>) => {
        if (++refusals > 2) return begin(...parameters);
        throw new StoreError("store.rejected", "Permission denied.", { transient: false });
      },
    });
    const instance = await app.workflows.workflow.create();
    await expect(instance.result()).resolves.toBe(1);
    expect(refusals).toBeGreaterThan(2);
  });
});

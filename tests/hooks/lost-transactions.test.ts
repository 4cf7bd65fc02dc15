import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { defineHook, perdure } from "../../src/index.ts";
import { postgres } from "../../src/store/postgres/index.ts";
import { COMMIT } from "../support/cut-texts.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { ENGINES, type TestEngine, type TestStore } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";

const silent = { info: () => {}, warn: () => {}, error: () => {} };
const TIMES = 20;

describe("a connection that is cut at the commit of a hook's transaction", () => {
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

  test.each(["answer", "request"] as const)("before the %s came leaves one row for each hook", async (cut) => {
    const calls = new Map<string, number>();
    const ended: unknown[] = [];
    const write = defineHook({ retries: { limit: 0 } }, async (id: string, hook) => {
      const result = await hook.transaction(async (tx) => {
        const call = (calls.get(id) ?? 0) + 1;
        calls.set(id, call);
        await tx.sql`insert into ledger (id, key) values (${id}, ${hook.idempotencyKey})`;
        if (call === 1) void proxy.cut(COMMIT, cut);
        return id;
      });
      ended.push(result);
    });
    await using adapter = postgres(proxy.url, { logger: silent });
    await using app = await perdure({ database: adapter, hooks: { write }, namespace: cut, logger: silent });
    for (let time = 0; time < TIMES; time++) {
      await app.hooks.write.trigger(`${cut}-${time}`);
      await eventually(() => expect(ended).toHaveLength(time + 1));
    }

    const rows = await query(`select count(*) as rows, count(distinct id) as ids from ledger where id like '${cut}%'`);
    expect(rows.map(({ rows, ids }) => [Number(rows), Number(ids)])).toEqual([[TIMES, TIMES]]);
    expect(await app.durableHooks.list()).toMatchObject({ hooks: [] });
    expect([...calls.values()]).toEqual(Array(TIMES).fill(cut === "answer" ? 1 : 2));
  });
});

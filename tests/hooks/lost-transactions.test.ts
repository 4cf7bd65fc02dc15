import { describe, expect, test } from "vitest";
import { defineHook, perdure } from "../../src/index.ts";
import { silent, useCutCommits } from "../support/cut-commits.ts";
import { eventually } from "../support/eventually.ts";

const TIMES = 20;

describe("a connection that is cut at the commit of a hook's transaction", () => {
  const cuts = useCutCommits();

  test.each(["answer", "request"] as const)("before the %s came leaves one row for each hook", async (cut) => {
    const calls = new Map<string, number>();
    const ended: unknown[] = [];
    const write = defineHook({ retries: { limit: 0 } }, async (id: string, hook) => {
      const result = await hook.transaction(async (tx) => {
        const call = (calls.get(id) ?? 0) + 1;
        calls.set(id, call);
        await tx.sql`insert into ledger (id, key) values (${id}, ${hook.idempotencyKey})`;
        if (call === 1) void cuts.cut(cut);
        return id;
      });
      ended.push(result);
    });
    await using adapter = cuts.adapter();
    await using app = await perdure({ database: adapter, hooks: { write }, namespace: cut, logger: silent });
    for (let time = 0; time < TIMES; time++) {
      await app.hooks.write.trigger(`${cut}-${time}`);
      await eventually(() => expect(ended).toHaveLength(time + 1));
    }

    expect(await cuts.counts(cut)).toEqual([TIMES, TIMES]);
    expect(await app.durableHooks.list()).toMatchObject({ hooks: [] });
    expect([...calls.values()]).toEqual(Array(TIMES).fill(cut === "answer" ? 1 : 2));
  });
});

import { describe, expect, test } from "vitest";
import { defineWorkflow, perdure, StoreError } from "../../src/index.ts";
import { silent, useCutCommits } from "../support/cut-commits.ts";

const TIMES = 20;

describe("a connection that is cut at the commit of a step's transaction", () => {
  const cuts = useCutCommits();

  test.each(["answer", "request"] as const)("before the %s came leaves one row for each step", async (cut) => {
    const calls = new Map<string, number>();
    const workflow = defineWorkflow({ name: "cut" }, async ({ instanceId }, step) =>
      step.transaction("write", async (tx, ctx) => {
        const call = (calls.get(instanceId) ?? 0) + 1;
        calls.set(instanceId, call);
        await tx.sql`insert into ledger (id, key) values (${instanceId}, ${ctx.idempotencyKey})`;
        if (call === 1) void cuts.cut(cut);
        return { attempt: ctx.attempt };
      }),
    );
    await using adapter = cuts.adapter();
    await using app = await perdure({ database: adapter, workflows: { workflow }, namespace: cut, logger: silent });
    for (let time = 0; time < TIMES; time++) {
      const instance = await app.workflows.workflow.create({ id: `${cut}-${time}` });
      await expect(instance.result()).resolves.toEqual({ attempt: 1 });
    }

    expect(await cuts.counts(cut)).toEqual([TIMES, TIMES]);
    expect([...calls.values()]).toEqual(Array(TIMES).fill(cut === "answer" ? 1 : 2));
  });

  test("before the answer came doesn't hide that the instance was paused", async () => {
    const ran: string[] = [];
    const target = { namespace: "paused", name: "cut", id: "one" };
    const workflow = defineWorkflow({ name: "cut" }, async (_event, step) => {
      // As another process does whose notification is lost.
      await step.transaction("write", async () => void (await cuts.database.store.engine.instances.pause(target)));
      await step.do("next", async () => void ran.push("next"));
    });
    await using adapter = cuts.adapter();
    await using app = await perdure({
      database: adapter,
      workflows: { workflow },
      namespace: "paused",
      logger: silent,
    });
    const wasCut = cuts.cut("answer");
    const instance = await app.workflows.workflow.create({ id: "one" });
    await wasCut;
    await expect.poll(async () => (await instance.status()).status).toBe("paused");
    expect(ran).toEqual([]);
    await instance.resume();
    await instance.result();
    expect(ran).toEqual(["next"]);
  });

  test("and a transaction that the database refuses to begin count as no attempt", async () => {
    await using adapter = cuts.adapter();
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

import { expect, test } from "vitest";
import { defineHook, defineWorkflow, type WorkflowEvent } from "../../src/index.ts";
import { exploreCrashes } from "../../src/testing/index.ts";

/** Changes of shops, debounced by a hook that creates an instance when it has been quiet. */
function createShops() {
  const reach: { create?: (id: string, change: string) => Promise<unknown> } = {};
  const reindex = defineWorkflow({ name: "reindex" }, async (event: WorkflowEvent<string>, step) => {
    return await step.do("index", () => `indexed ${event.payload}`);
  });
  const shopChanged = defineHook(async (change: string, hook): Promise<void> => {
    await reach.create?.(hook.idempotencyKey.replaceAll("/", ":"), change);
    if (hook.attempts === 1) throw new Error("not yet");
  });
  return { workflows: { reindex }, hooks: { shopChanged }, reach };
}

test("a debounced hook creates one instance, wherever its process crashes and however often it is tried", async () => {
  const report = await exploreCrashes(
    {
      setUp: createShops,
      async run(app, { reach }) {
        reach.create = (id, params) => app.workflows.reindex.create({ id, params, onConflict: "return" });
        for (const change of ["the first", "the second", "the third"]) {
          await app.hooks.shopChanged.trigger(change, { key: "main street", debounce: "10 seconds" });
          await app.advance("6 seconds");
        }
      },
      async check(app) {
        const { instances } = await app.workflows.reindex.list();
        return Promise.all(instances.map(async ({ id }) => (await app.workflows.reindex.get(id)).result()));
      },
    },
    { runAgain: true },
  );

  expect(report.outcomes.map(({ outcome }) => outcome)).toEqual([["indexed the third"]]);
});

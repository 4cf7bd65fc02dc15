import { describe, expect, test } from "vitest";
import { defineWorkflow, perdure } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { Gate, recordCalls } from "./support/handlers.ts";
import { LogBook } from "./support/log-book.ts";
import { eventually } from "./support/use-hooks.ts";

const MANY = 300;

describe.each(ENGINES)("the capacity of a worker on $name", (engine) => {
  test("300 slow hooks don't delay the start of a workflow", async () => {
    const fixture = await engine.create({ logger: new LogBook() });
    const gate = new Gate();
    const slow = recordCalls<number>(() => gate.opened);
    const quick = defineWorkflow({ name: "quick" }, async (_event, step) => step.do("once", async () => "done"));
    const app = await perdure({
      database: fixture.adapter,
      hooks: { slow: slow.definition },
      workflows: { quick },
      worker: { concurrency: { hooks: 20 } },
    });
    try {
      await Promise.all(Array.from({ length: MANY }, (_, index) => app.hooks.slow.trigger(index)));
      await eventually(() => expect(slow.calls).toHaveLength(20));
      const instance = await app.workflows.quick.create();
      expect(await instance.result()).toBe("done");
      expect(slow.calls).toHaveLength(20);
      gate.open();
      await eventually(() => expect(slow.calls).toHaveLength(MANY));
    } finally {
      gate.open();
      await app.stop();
      await fixture.dispose();
    }
  });

  test("300 slow workflows don't delay the start of a hook", async () => {
    const fixture = await engine.create({ logger: new LogBook() });
    const gate = new Gate();
    let begun = 0;
    const slow = defineWorkflow({ name: "slow" }, async (_event, step) => {
      await step.do("wait", async () => {
        begun++;
        await gate.opened;
      });
    });
    const quick = recordCalls<string>();
    const app = await perdure({
      database: fixture.adapter,
      hooks: { quick: quick.definition },
      workflows: { slow },
      worker: { concurrency: { workflows: 20 } },
    });
    try {
      for (let index = 0; index < MANY; index += 100) await app.workflows.slow.createBatch({ count: 100 });
      await eventually(() => expect(begun).toBe(20));
      await app.hooks.quick.trigger("ada");
      await eventually(() => expect(quick.payloads).toEqual(["ada"]));
      expect(begun).toBe(20);
    } finally {
      gate.open();
      await app.stop();
      await fixture.dispose();
    }
  });
});

test.each([{ hooks: 0 }, { workflows: 1.5 }, { steps: 5 }, 0, null])(
  "perdure() refuses a concurrency of %j",
  async (concurrency) => {
    const worker = { concurrency: concurrency as number };
    await expect(perdure({ database: ":memory:", worker })).rejects.toMatchObject({ code: "options.invalid" });
  },
);

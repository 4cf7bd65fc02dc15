import { describe, expect, test } from "vitest";
import { defineWorkflow, type WorkflowEvent } from "../../src/index.ts";
import { Gate } from "../hooks/support/handlers.ts";
import { ENGINES } from "../support/engines.ts";
import { becomes, comesToRest } from "./support/sample.ts";
import { eventually, useWorkflows, withTime } from "./support/use-workflows.ts";

describe.each(ENGINES)("restarting instances on $name", (engine) => {
  const subject = useWorkflows(engine);

  test("begins again with the same id and params, and runs every step again", async () => {
    const runs: unknown[] = [];
    const workflow = defineWorkflow({ name: "again" }, async (event: WorkflowEvent<{ total: number }>, step) => {
      await step.do("note", ({ idempotencyKey }) => void runs.push([event.instanceId, event.payload, idempotencyKey]));
      return runs.length;
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one", params: { total: 5 } });
    await expect(instance.result()).resolves.toBe(1);
    await instance.restart();

    await eventually(async () => expect(await instance.status()).toMatchObject({ status: "complete", run: 2 }));
    await expect(instance.result()).resolves.toBe(2);
    const [first, second] = runs as [string, unknown, string][];
    expect(first?.slice(0, 2)).toEqual(["one", { total: 5 }]);
    expect(second?.slice(0, 2)).toEqual(["one", { total: 5 }]);
    expect(second?.[2]).not.toBe(first?.[2]);
  });

  test("drops events that no wait has received, and leaves ids of events free for the next run", async () => {
    const workflow = defineWorkflow({ name: "listener" }, async (_event, step) => {
      const { payload } = await step.waitForEvent<string>("word", { type: "word", timeout: "1 hour" });
      return payload;
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });
    await becomes(instance, "waiting");
    await instance.pause();
    await instance.sendEvent({ type: "word", payload: "old", id: "first" });
    await instance.restart();
    await becomes(instance, "waiting");
    await instance.sendEvent({ type: "word", payload: "new", id: "first" });

    await expect(instance.result()).resolves.toBe("new");
  });

  test("tells the step that runs to stop, and drops what it still gives", async () => {
    const gate = new Gate();
    const signals: AbortSignal[] = [];
    const workflow = defineWorkflow({ name: "stopped" }, async (_event, step) =>
      step.do("work", async ({ signal }) => {
        signals.push(signal);
        if (signals.length > 1) return "second";
        await gate.opened;
        return "first";
      }),
    );
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create();
    await eventually(() => expect(signals).toHaveLength(1));
    await instance.restart();

    expect(signals[0]?.reason).toMatchObject({ name: "AttemptAbortedError", code: "attempt.superseded" });
    gate.open();
    await expect(instance.result()).resolves.toBe("second");
    const { entries } = await instance.history();
    expect(entries.map(({ run, output }) => [run, output])).toEqual([[2, "second"]]);
  });

  test("of an instance with waits doesn't take over their deadlines", async () => {
    const workflow = defineWorkflow({ name: "sleeper" }, async (_event, step) => step.sleep("long", "1 hour"));
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create();
    await becomes(instance, "waiting");
    await comesToRest(process);
    await subject.clock.advanceAndSettle(3_000_000);
    await instance.restart();
    await eventually(async () => expect(await instance.status()).toMatchObject({ status: "waiting", run: 2 }));
    await comesToRest(process);
    await subject.clock.advanceAndSettle(3_000_000);
    expect(await instance.status()).toMatchObject({ status: "waiting" });
    await subject.clock.advanceAndSettle(600_000);

    await withTime(subject.clock, async () => expect(await instance.status()).toMatchObject({ status: "complete" }));
  });
});

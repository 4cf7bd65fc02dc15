import { describe, expect, test, vi } from "vitest";
import { defineWorkflow } from "../../src/index.ts";
import { Gate } from "../hooks/support/handlers.ts";
import { ENGINES } from "../support/engines.ts";
import { becomes } from "./support/sample.ts";
import { eventually, useWorkflows, withTime } from "./support/use-workflows.ts";

describe.each(ENGINES)("shutting down on $name", (engine) => {
  const subject = useWorkflows(engine);

  function program() {
    const gate = new Gate();
    const begun: string[] = [];
    const signals: AbortSignal[] = [];
    const workflow = defineWorkflow({ name: "stopped" }, async (_event, step) => {
      await step.do("first", async ({ attempt, signal }) => {
        begun.push(`first ${attempt}`);
        signals.push(signal);
        if (signals.length === 1) await gate.opened;
      });
      await step.do("second", ({ attempt }) => void begun.push(`second ${attempt}`));
      return "done";
    });
    return { gate, begun, signals, workflow };
  }

  test("lets the running step end, writes its result, and gives the instance to the next process", async () => {
    const { gate, begun, signals, workflow } = program();
    const first = subject.start({ workflow });
    const instance = await first.workflows.workflow.create({ id: "one" });
    await eventually(() => expect(begun).toEqual(["first 1"]));
    const stopped = first.dispatcher.stopPolling({ deadlineMs: 10_000 });
    gate.open();
    await stopped;
    expect(signals[0]?.aborted).toBe(false);
    expect(begun).toEqual(["first 1"]);
    expect((await instance.history()).entries).toMatchObject([{ kind: "completed", name: "first" }]);

    const second = subject.start({ workflow });
    await expect((await second.workflows.workflow.get("one")).result()).resolves.toBe("done");
    expect(begun).toEqual(["first 1", "second 1"]);
  });

  test("tells a step that takes too long, and doesn't count its attempt", async () => {
    const { begun, signals, workflow } = program();
    const first = subject.start({ workflow });
    await first.workflows.workflow.create({ id: "one" });
    await eventually(() => expect(begun).toEqual(["first 1"]));
    await first.stop();
    expect(signals[0]?.reason).toMatchObject({ code: "attempt.shutdown" });

    const second = subject.start({ workflow });
    await expect((await second.workflows.workflow.get("one")).result()).resolves.toBe("done");
    expect(begun).toEqual(["first 1", "first 1", "second 1"]);
  });

  test("hands an instance over to an idle process at once when its step takes too long", async () => {
    const { begun, workflow } = program();
    const first = subject.start({ workflow });
    await first.workflows.workflow.create({ id: "one" });
    await eventually(() => expect(begun).toEqual(["first 1"]));
    const idle = subject.process({ workflow });
    const looks = vi.spyOn(idle.store.instances.statements, "nextWake");
    idle.start();
    await eventually(() => expect(looks.mock.settledResults.some(({ type }) => type === "fulfilled")).toBe(true));
    await first.stop();
    await expect((await idle.workflows.workflow.get("one")).result()).resolves.toBe("done");
  });

  test("gives back what waits in memory, and the wait ends when it would have", async () => {
    const begun: string[] = [];
    const workflow = defineWorkflow({ name: "held" }, async (_event, step) => {
      await step.sleep("a moment", "4 seconds");
      await step.do("after", () => void begun.push("after"));
    });
    const first = subject.start({ workflow });
    const instance = await first.workflows.workflow.create({ id: "one" });
    await becomes(instance, "waiting");
    await subject.clock.advanceAndSettle(3000);
    await first.dispatcher.stopPolling();
    expect(await first.store.instances.statements.leaseTokens([subject.namespace])).toEqual([]);
    const due = subject.clock.now() + 1000;
    subject.start({ workflow });
    await withTime(subject.clock, () => expect(begun).toEqual(["after"]));

    const { entries } = await instance.history();
    expect(entries[0]).toMatchObject({ kind: "waiting", name: "a moment", dueAt: new Date(due) });
  });

  test("gives back what has begun to wait for an event that is there so that the next process receives it at once", async () => {
    const gate = new Gate();
    const begun: string[] = [];
    const workflow = defineWorkflow({ name: "told" }, async (_event, step) => {
      await step.waitForEvent("approval", { type: "approved", timeout: "1 day" });
      await step.do("approved", async () => {
        begun.push("approved");
        await gate.opened;
      });
      return (await step.waitForEvent<string>("change", { type: "changed", timeout: "1 day" })).payload;
    });
    const first = subject.start({ workflow });
    const instance = await first.workflows.workflow.create({ id: "one" });
    await becomes(instance, "waiting");
    await instance.sendEvent({ type: "changed", payload: "a change" });
    await instance.sendEvent({ type: "approved" });
    await eventually(() => expect(begun).toEqual(["approved"]));
    const stopped = first.dispatcher.stopPolling({ deadlineMs: 10_000 });
    gate.open();
    await stopped;
    const wake = await first.processor.getNextWakeAt();
    expect(wake?.getTime()).toBeLessThanOrEqual(subject.clock.now());

    const second = subject.start({ workflow });
    await expect((await second.workflows.workflow.get("one")).result()).resolves.toBe("a change"); // no time passes
  });

  test("resolves at once where nothing runs but what is parked", async () => {
    const workflow = defineWorkflow({ name: "parked" }, async (_event, step) => step.sleep("long", "1 day"));
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create();
    await becomes(instance, "waiting");
    await process.dispatcher.stopPolling();

    expect(await instance.status()).toMatchObject({ status: "waiting" });
  });
});

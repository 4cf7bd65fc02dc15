import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { becomes, comesToRest } from "./support/sample.ts";
import { useWorkflows, withTime } from "./support/use-workflows.ts";

/** What goes wrong where workflows are run locally for development elsewhere. */
describe.each(ENGINES)("defects of other local engines that aren't ours, on $name", (engine) => {
  const subject = useWorkflows(engine);
  const HOUR = 3_600_000;

  test("a sleeping instance continues after its process was started again, without running steps twice", async () => {
    const begun: string[] = [];
    const workflow = defineWorkflow({ name: "restarted" }, async (_event, step) => {
      await step.do("before", () => void begun.push("before"));
      await step.sleep("long", "1 hour");
      await step.do("after", () => void begun.push("after"));
      return "done";
    });
    const first = subject.start({ workflow });
    await becomes(await first.workflows.workflow.create({ id: "one" }), "waiting");
    await comesToRest(first);
    await first.close();
    await subject.clock.advanceAndSettle(HOUR);
    const second = subject.start({ workflow });

    await expect((await second.workflows.workflow.get("one")).result()).resolves.toBe("done");
    expect(begun).toEqual(["before", "after"]);
  });

  test("sleepUntil a time that passes during a pause ends on resuming, and not before", async () => {
    const until = new Date(subject.clock.now() + HOUR);
    const workflow = defineWorkflow({ name: "until" }, async (_event, step) => {
      await step.sleepUntil("then", until);
      return "done";
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create();
    await becomes(instance, "waiting");
    await instance.pause();
    await becomes(instance, "paused");
    await subject.clock.advanceAndSettle(2 * HOUR);
    expect(await instance.status()).toMatchObject({ status: "paused" });
    await instance.resume();

    await expect(instance.result()).resolves.toBe("done");
  });

  test("an event that a step has received isn't delivered again after a resume or a restart of the process", async () => {
    const workflow = defineWorkflow({ name: "twice" }, async (_event, step) => {
      const first = await step.waitForEvent<number>("first", { type: "word", timeout: "1 day" });
      const second = await step.waitForEvent<number>("second", { type: "word", timeout: "1 day" });
      return [first.payload, second.payload];
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });
    await instance.sendEvent({ type: "word", payload: 1 });
    await withTime(subject.clock, async () =>
      expect((await instance.history()).entries.map(({ kind }) => kind)).toContain("received"),
    );
    await comesToRest(process);
    await instance.pause();
    await becomes(instance, "paused");
    await instance.resume();
    await becomes(instance, "waiting");
    await comesToRest(process);
    await process.close();
    const next = subject.start({ workflow });
    const again = await next.workflows.workflow.get("one");
    await becomes(again, "waiting");
    await again.sendEvent({ type: "word", payload: 2 });

    await expect(again.result()).resolves.toEqual([1, 2]);
  });

  test("more than ten events that wait are received in the order of sending", async () => {
    const count = 25;
    const workflow = defineWorkflow({ name: "queue" }, async (_event, step) => {
      const received: number[] = [];
      await step.sleep("first", "1 hour");
      for (let index = 0; index < count; index++) {
        const { payload } = await step.waitForEvent<number>(`word ${index}`, { type: "word", timeout: "1 day" });
        received.push(payload);
      }
      return received;
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create();
    await becomes(instance, "waiting");
    const numbers = Array.from({ length: count }, (_, index) => index);
    for (const payload of numbers.slice(0, 15)) await instance.sendEvent({ type: "word", payload });
    await Promise.all(numbers.slice(15).map((payload) => instance.sendEvent({ type: "word", payload })));
    await comesToRest(process);
    await subject.clock.advanceAndSettle(HOUR);

    await withTime(subject.clock, async () => expect(await instance.status()).toMatchObject({ status: "complete" }));
    await expect(instance.result()).resolves.toEqual(numbers);
  });
});

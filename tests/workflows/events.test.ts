import { describe, expect, test } from "vitest";
import { defineWorkflow, EventTimeoutError, type WorkflowStep } from "../../src/index.ts";
import { ENCRYPTED_SQLITE, ENGINES } from "../support/engines.ts";
import { afterLong, replaceProcess, untilParked } from "./support/lose-process.ts";
import { eventually, untilStatus, useWorkflows, withTime } from "./support/use-workflows.ts";

describe.each([...ENGINES, ENCRYPTED_SQLITE])("events on $name", (engine) => {
  const subject = useWorkflows(engine);

  const waiting = async (instance: { status(): Promise<{ status: string }> }) =>
    eventually(async () => expect((await instance.status()).status).toBe("waiting"));

  async function takeAll(step: WorkflowStep, howMany: number): Promise<unknown[]> {
    const taken: unknown[] = [];
    for (let index = 0; index < howMany; index++) {
      const { payload } = await step.waitForEvent("next", { type: "item" });
      taken.push(payload);
    }
    return taken;
  }

  test("are received whether they are sent before the wait or during it", async () => {
    const workflow = defineWorkflow({ name: "both" }, async (_event, step) => {
      const before = await step.waitForEvent("before", { type: "early" });
      const during = await step.waitForEvent("during", { type: "late" });
      return [before, during];
    });
    const idle = subject.process({ workflow });
    const created = await idle.workflows.workflow.create({ id: "one" });
    await created.sendEvent({ type: "early", payload: { n: 1 } });
    const sentAt = new Date(subject.clock.now());
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.get("one");
    await waiting(instance);
    await instance.sendEvent({ type: "late" });

    await withTime(subject.clock, async () => expect((await instance.status()).status).toBe("complete"));
    expect(await instance.result()).toEqual([
      { type: "early", payload: { n: 1 }, timestamp: sentAt },
      { type: "late", payload: undefined, timestamp: expect.any(Date) },
    ]);
  });

  test("come first in first out, also many of one time, and after a replay", async () => {
    const workflow = defineWorkflow({ name: "many" }, async (_event, step) => {
      const first = await takeAll(step, 12);
      await step.sleep("rest", "1 hour");
      return [...first, ...(await takeAll(step, 13))];
    });
    const first = subject.start({ workflow });
    const created = await first.workflows.workflow.create({ id: "one" });
    for (let item = 1; item <= 25; item++) await created.sendEvent({ type: "item", payload: item });
    await untilParked(created);
    const second = await replaceProcess(subject, first, { workflow });
    const instance = await second.workflows.workflow.get("one");
    await afterLong(subject, instance, "complete");

    expect(await instance.result()).toEqual(Array.from({ length: 25 }, (_, index) => index + 1));
  });

  test("go to waits of their type in the order of the waits", async () => {
    const workflow = defineWorkflow({ name: "several" }, async (_event, step) =>
      Promise.all(
        [
          ["first", "a"],
          ["other", "b"],
          ["second", "a"],
        ].map(async ([name, type]) => {
          const { payload } = await step.waitForEvent<string>(name as string, { type: type as string });
          return `${name} ${payload}`;
        }),
      ),
    );
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create();
    await waiting(instance);
    await instance.sendEvent({ type: "a", payload: "a1" });
    await instance.sendEvent({ type: "a", payload: "a2" });
    await instance.sendEvent({ type: "b", payload: "b1" });
    await untilStatus(subject.clock, instance, "complete");

    expect(await instance.result()).toEqual(["first a1", "other b1", "second a2"]);
  });

  test("that don't come in time end the wait with an EventTimeoutError, live and after a replay", async () => {
    const seen: unknown[] = [];
    const workflow = defineWorkflow({ name: "missed" }, async (_event, step) => {
      try {
        await step.waitForEvent("wait", { type: "never", timeout: "2 seconds" });
      } catch (error) {
        seen.push(error);
      }
      await step.sleep("rest", "1 hour");
      return "went on";
    });
    const first = subject.start({ workflow });
    const created = await first.workflows.workflow.create({ id: "one" });
    await withTime(subject.clock, () => expect(seen).toHaveLength(1));
    await withTime(subject.clock, async () => expect((await created.history()).entries).toHaveLength(2));
    const second = await replaceProcess(subject, first, { workflow });
    const instance = await second.workflows.workflow.get("one");
    await afterLong(subject, instance, "complete");

    expect(seen.length).toBeGreaterThan(1);
    for (const error of seen) {
      expect(error).toBeInstanceOf(EventTimeoutError);
      expect(error).toMatchObject({ name: "EventTimeoutError", code: "step.event_timeout" });
    }
  });

  test("that don't come in time fail the workflow if it doesn't catch the timeout", async () => {
    const workflow = defineWorkflow({ name: "fatal" }, async (_event, step) => {
      await step.waitForEvent("wait", { type: "never" });
    });
    const process = subject.start({ workflow });
    const begin = subject.clock.now();
    const instance = await process.workflows.workflow.create();
    await waiting(instance);
    await afterLong(subject, instance, "errored");

    expect(await instance.status()).toMatchObject({ error: { name: "EventTimeoutError" } });
    const { entries } = await instance.history();
    expect(entries).toMatchObject([{ dueAt: new Date(begin + 86_400_000) }, { kind: "timedOut" }]);
  });

  test("that arrived by the deadline count, even if the instance was loaded later", async () => {
    const workflow = defineWorkflow({ name: "justInTime" }, async (_event, step) =>
      step.waitForEvent("wait", { type: "word", timeout: "1 minute" }).then(
        ({ payload }) => payload,
        () => "timed out",
      ),
    );
    const first = subject.start({ workflow });
    const created = await first.workflows.workflow.create({ id: "one" });
    await untilParked(created);
    const { entries } = await created.history();
    const deadline = entries[0]?.dueAt?.getTime() as number;
    await first.close();
    const sender = subject.process({ workflow });
    const instance = await sender.workflows.workflow.get("one");
    subject.clock.advance(deadline - subject.clock.now());
    await instance.sendEvent({ type: "word", payload: "in time" });
    subject.clock.advance(3_600_000);
    const second = subject.start({ workflow });
    const later = await second.workflows.workflow.get("one");
    await untilStatus(subject.clock, later, "complete");

    expect(await later.result()).toBe("in time");
  });

  test("that arrive after the deadline aren't received by waits that timed out", async () => {
    const workflow = defineWorkflow({ name: "tooLate" }, async (_event, step) => {
      const first = await step.waitForEvent("first", { type: "word", timeout: "1 minute" }).then(
        ({ payload }) => payload,
        () => "timed out",
      );
      const { payload } = await step.waitForEvent("second", { type: "word" });
      return [first, payload];
    });
    const first = subject.start({ workflow });
    const created = await first.workflows.workflow.create({ id: "one" });
    await untilParked(created);
    const { entries } = await created.history();
    await first.close();
    const sender = subject.process({ workflow });
    const instance = await sender.workflows.workflow.get("one");
    subject.clock.advance((entries[0]?.dueAt?.getTime() as number) - subject.clock.now() + 1);
    await instance.sendEvent({ type: "word", payload: "late" });
    const second = subject.start({ workflow });
    const later = await second.workflows.workflow.get("one");
    await untilStatus(subject.clock, later, "complete");

    expect(await later.result()).toEqual(["timed out", "late"]);
  });

  test.each([999, "0.5 seconds", 0, -1, "366 days", Number.NaN, "soon"])(
    "can't be waited for with a timeout of %s",
    async (timeout) => {
      const workflow = defineWorkflow({ name: "limits" }, async (_event, step) =>
        step.waitForEvent("wait", { type: "word", timeout: timeout as number }),
      );
      const process = subject.start({ workflow });
      const instance = await process.workflows.workflow.create();

      await expect(instance.result()).rejects.toMatchObject({ cause: { code: "duration.invalid" } });
    },
  );

  test.each([1000, "365 days"])("can be waited for with a timeout of %s", async (timeout) => {
    const workflow = defineWorkflow({ name: "limits" }, async (_event, step) =>
      step.waitForEvent("wait", { type: "word", timeout: timeout as number }),
    );
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create();
    await waiting(instance);
    await instance.sendEvent({ type: "word", payload: 1 });

    await expect(instance.result()).resolves.toMatchObject({ payload: 1 });
  });
});

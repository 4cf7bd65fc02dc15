import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { afterLong, replaceProcess, untilParked } from "./support/lose-process.ts";
import { eventually, untilStatus, useWorkflows, withTime } from "./support/use-workflows.ts";

describe.each(ENGINES)("sleeps on $name", (engine) => {
  const subject = useWorkflows(engine);

  test.each([
    ["held in memory", 4000, async () => {}],
    ["parked", 60_000, untilParked],
  ])("that are %s end when their time has come, and not before", async (_, duration, settled) => {
    const workflow = defineWorkflow({ name: "sleeper" }, async (_event, step) => {
      await step.sleep("rest", duration);
      return step.do("after", () => subject.clock.now());
    });
    const process = subject.start({ workflow });
    const begin = subject.clock.now();
    const instance = await process.workflows.workflow.create();
    await eventually(async () => expect((await instance.status()).status).toBe("waiting"));
    await settled(instance);
    await subject.clock.advanceAndSettle(duration - 1);
    expect((await instance.status()).status).not.toBe("complete");
    await untilStatus(subject.clock, instance, "complete");

    expect(await instance.result()).toBeGreaterThanOrEqual(begin + duration);
  });

  test("until a time in the past, or now, end at once", async () => {
    const workflow = defineWorkflow({ name: "late" }, async (_event, step) => {
      await step.sleepUntil("long ago", new Date(0));
      await step.sleepUntil("before", subject.clock.now() - 1);
      await step.sleepUntil("now", subject.clock.now());
      await step.sleep("not at all", 0);
      return "awake";
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create();

    await expect(instance.result()).resolves.toBe("awake");
    const { entries } = await instance.history();
    expect(entries.map(({ type, name, kind }) => [type, name, kind])).toEqual([
      ["sleep", "long ago", "completed"],
      ["sleep", "before", "completed"],
      ["sleep", "now", "completed"],
      ["sleep", "not at all", "completed"],
    ]);
  });

  test("until a date end then", async () => {
    const until = new Date(subject.clock.now() + 3_600_000);
    const workflow = defineWorkflow({ name: "dated" }, async (_event, step) => {
      await step.sleepUntil("then", until);
      return step.do("after", () => subject.clock.now());
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create();
    await untilParked(instance);
    const { entries } = await instance.history();
    await afterLong(subject, instance, "complete");

    expect(entries).toMatchObject([{ kind: "waiting", dueAt: until }]);
    expect(await instance.result()).toBeGreaterThanOrEqual(until.getTime());
  });

  test("aren't made longer by replays", async () => {
    const workflow = defineWorkflow({ name: "woken" }, async (_event, step) => {
      await Promise.all([step.sleep("long", "1 hour"), step.waitForEvent("poke", { type: "poke" })]);
      return step.do("after", () => subject.clock.now());
    });
    const first = subject.start({ workflow });
    const created = await first.workflows.workflow.create({ id: "one" });
    const begin = subject.clock.now();
    await untilParked(created);
    subject.clock.advance(1_800_000);
    const second = await replaceProcess(subject, first, { workflow });
    const instance = await second.workflows.workflow.get("one");
    await instance.sendEvent({ type: "poke" });
    await eventually(async () => {
      const { entries } = await instance.history();
      expect(entries.map(({ kind }) => kind)).toContain("received");
    });
    const third = await replaceProcess(subject, second, { workflow });
    const again = await third.workflows.workflow.get("one");
    await afterLong(subject, again, "complete");

    expect(await again.result()).toBeGreaterThanOrEqual(begin + 3_600_000);
    const { entries } = await again.history();
    const sleeps = entries.filter(({ kind, type }) => kind === "waiting" && type === "sleep");
    expect(sleeps).toMatchObject([{ dueAt: new Date(begin + 3_600_000) }]);
  });

  test("of one and two hours together take two", async () => {
    const workflow = defineWorkflow({ name: "both" }, async (_event, step) => {
      await Promise.all([step.sleep("one", "1 hour"), step.sleep("two", "2 hours")]);
    });
    const process = subject.start({ workflow });
    const begin = subject.clock.now();
    const instance = await process.workflows.workflow.create();
    await untilParked(instance);
    subject.clock.advance(3_600_000);
    await withTime(subject.clock, async () => expect((await instance.history()).entries).toHaveLength(3));
    await eventually(async () => expect((await instance.status()).status).toBe("waiting"));
    await afterLong(subject, instance, "complete");

    const { entries } = await instance.history();
    const [one, two] = entries.filter(({ kind }) => kind === "completed").map(({ at }) => at.getTime());
    expect(two).toBeGreaterThanOrEqual(begin + 7_200_000);
    expect(one).toBeLessThan(begin + 7_200_000);
  });
});

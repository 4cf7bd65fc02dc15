import { describe, expect, test, vi } from "vitest";
import { defineWorkflow } from "../../src/index.ts";
import { Gate } from "../hooks/support/handlers.ts";
import { ENGINES } from "../support/engines.ts";
import { untilFarOff } from "./support/lose-process.ts";
import { becomes, comesToRest, type Mode, Sample } from "./support/sample.ts";
import { eventually, useWorkflows, withTime } from "./support/use-workflows.ts";

const HOUR = 3_600_000;

describe.each(ENGINES)("pausing instances on $name", (engine) => {
  const subject = useWorkflows(engine);

  async function begin(mode: Mode, status: string) {
    const sample = new Sample();
    const process = subject.start({ sample: sample.workflow });
    const instance = await process.workflows.sample.create({ id: "one", params: mode });
    if (mode === "work") await eventually(() => expect(sample.began).toEqual(["work"]));
    await becomes(instance, status);
    return { sample, process, instance };
  }

  test("lets the running step end, keeps its result, and begins no other", async () => {
    const { sample, instance } = await begin("work", "running");
    await instance.pause();
    expect(await instance.status()).toMatchObject({ status: "waitingForPause" });
    expect(sample.signals[0]?.aborted).toBe(false);
    sample.gate.open();
    await becomes(instance, "paused");
    await subject.clock.advanceAndSettle(10 * 60_000);

    expect(sample.began).toEqual(["work"]);
    expect((await instance.history()).entries).toMatchObject([{ kind: "completed", name: "work" }]);
    await instance.resume();
    await expect(instance.result()).resolves.toBe("work");
    expect(sample.began).toEqual(["work", "after"]);
  });

  test("asked for by another process works the same", async () => {
    const { sample, instance } = await begin("work", "running");
    const other = await subject.process({ sample: sample.workflow }).workflows.sample.get("one");
    await other.pause();
    expect(await other.status()).toMatchObject({ status: "waitingForPause" });
    sample.gate.open();
    await becomes(instance, "paused");
    expect(sample.began).toEqual(["work"]);
    await other.resume();

    await withTime(subject.clock, async () => expect(await other.status()).toMatchObject({ status: "complete" }));
    expect(sample.began).toEqual(["work", "after"]);
  });

  test("lets a workflow end whose last step was running", async () => {
    const gate = new Gate();
    const began = vi.fn(() => gate.opened);
    const last = defineWorkflow({ name: "last" }, async (_event, step) => step.do("work", began));
    const instance = await subject.start({ last }).workflows.last.create();
    await eventually(() => expect(began).toHaveBeenCalled());
    await instance.pause();
    gate.open();

    await becomes(instance, "complete");
  });

  test.each(["sleep", "hold", "event", "retry"] as const)("holds at once what only waits (%s)", async (mode) => {
    const { sample, instance } = await begin(mode, "waiting");
    const began = [...sample.began];
    await instance.pause();
    await becomes(instance, "paused");
    await subject.clock.advanceAndSettle(60_000);

    expect(sample.began).toEqual(began);
    expect(await instance.status()).toMatchObject({ status: "paused" });
  });

  test("is undone by a resume while the step still runs", async () => {
    const { sample, instance } = await begin("work", "running");
    await instance.pause();
    await instance.resume();
    expect(await instance.status()).toMatchObject({ status: "running" });
    sample.gate.open();

    await expect(instance.result()).resolves.toBe("work");
  });

  test.each(["sleep", "retry"] as const)(
    "doesn't stop time: what came due meanwhile (%s) happens on resuming",
    async (mode) => {
      const { sample, instance } = await begin(mode, "waiting");
      await instance.pause();
      await becomes(instance, "paused");
      for (let minute = 0; minute < 61; minute++) await subject.clock.advanceAndSettle(60_000);
      expect(sample.began).not.toContain("after");
      await instance.resume();

      await becomes(instance, "complete");
      expect(sample.began.at(-1)).toBe("after");
    },
  );

  test("doesn't make what isn't due yet come sooner", async () => {
    const { instance, process } = await begin("sleep", "waiting");
    await comesToRest(process);
    await instance.pause();
    await subject.clock.advanceAndSettle(HOUR / 2);
    await instance.resume();
    await untilFarOff(subject, instance);
    await comesToRest(process);
    await subject.clock.advanceAndSettle(HOUR / 2 - 1000);
    expect(await instance.status()).toMatchObject({ status: "waiting" });
    await subject.clock.advanceAndSettle(1000);

    await withTime(subject.clock, async () => expect(await instance.status()).toMatchObject({ status: "complete" }));
  });

  test("keeps what is sent meanwhile, for the time after", async () => {
    const { sample, instance } = await begin("event", "waiting");
    await instance.pause();
    await becomes(instance, "paused");
    await instance.sendEvent({ type: "word" });
    await subject.clock.advanceAndSettle(60_000);
    expect(await instance.status()).toMatchObject({ status: "paused" });
    expect(sample.began).toEqual([]);
    await instance.resume();

    await expect(instance.result()).resolves.toBe("event");
  });

  test("puts a resumed instance before those that have yet to begin", async () => {
    const order: string[] = [];
    const ordered = defineWorkflow({ name: "ordered" }, async (event, step) => {
      await step.do("note", () => void order.push(event.instanceId));
    });
    const process = subject.process({ ordered }, { concurrency: 1 });
    const old = await process.workflows.ordered.create({ id: "resumed" });
    await old.pause();
    for (const id of ["new 1", "new 2"].map((name) => name.replace(" ", "-")))
      await process.workflows.ordered.create({ id });
    await subject.clock.advanceAndSettle(1000);
    await old.resume();
    await process.drain();

    expect(order).toEqual(["resumed", "new-1", "new-2"]);
  });

  test("holds also for a process that learns late of what it wrote before", async () => {
    const began: string[] = [];
    const two = defineWorkflow({ name: "two" }, async (_event, step) => {
      for (const name of ["first", "second"]) await step.do(name, () => void began.push(name));
    });
    const process = subject.process({ two });
    const instance = await process.workflows.two.create({ id: "one" });
    const { instances } = process.store;
    const commit = instances.commit.bind(instances);
    vi.spyOn(instances, "commit").mockImplementationOnce(async (request) => {
      const answer = await commit(request);
      await instance.pause(); // overtakes the answer
      return answer;
    });
    process.start();

    await becomes(instance, "paused", "complete");
    expect(began).toEqual(["first"]);
  });
});

import { afterEach, describe, expect, test, vi } from "vitest";
import { defineWorkflow } from "../../src/index.ts";
import { forever, Gate } from "../hooks/support/handlers.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually, LEASE_MS, untilStatus, useWorkflows, withTime } from "./support/use-workflows.ts";

/** What the simulation has found. */
describe.each(ENGINES)("attempts that were interrupted, on $name", (engine) => {
  const subject = useWorkflows(engine);

  test("count when the instance is paused before it continues", async () => {
    const attempts: number[] = [];
    const workflow = defineWorkflow({ name: "paused" }, async (_event, step) => {
      await step.do("lost at first", async ({ attempt }) => {
        attempts.push(attempt);
        if (attempts.length === 1) await forever();
      });
    });
    const lost = subject.start({ workflow }, { clock: subject.anotherClock() });
    await lost.workflows.workflow.create({ id: "one" });
    await eventually(() => expect(attempts).toEqual([1]));
    const other = subject.process({ workflow });
    const instance = await other.workflows.workflow.get("one");
    await instance.pause();
    await subject.clock.advanceAndSettle(LEASE_MS + 1);
    other.start();
    await untilStatus(subject.clock, instance, "paused");

    await instance.resume();
    await untilStatus(subject.clock, instance, "complete");
    expect(attempts).toEqual([1, 2]);
  });

  test("don't count for later steps when the process that continues is stopped", async () => {
    const attempts: string[] = [];
    const workflow = defineWorkflow({ name: "stopped" }, async (_event, step) => {
      for (const name of ["lost", "given back"]) {
        await step.do(name, async ({ attempt }) => {
          attempts.push(`${name} ${attempt}`);
          if (attempts.length === 1 || attempts.length === 3) await forever();
        });
      }
    });
    const lost = subject.start({ workflow }, { clock: subject.anotherClock() });
    await lost.workflows.workflow.create({ id: "one" });
    await eventually(() => expect(attempts).toEqual(["lost 1"]));
    await subject.clock.advanceAndSettle(LEASE_MS + 1);
    const stopped = subject.start({ workflow });
    await withTime(subject.clock, () => expect(attempts).toEqual(["lost 1", "lost 2", "given back 1"]));
    await stopped.stop();

    const last = subject.start({ workflow });
    await untilStatus(subject.clock, await last.workflows.workflow.get("one"), "complete");
    expect(attempts).toEqual(["lost 1", "lost 2", "given back 1", "given back 1"]);
  });
});

describe.each(ENGINES)("an instance that is taken away while it is loaded, on $name", (engine) => {
  const subject = useWorkflows(engine);

  afterEach(() => {
    vi.restoreAllMocks();
  });

  test("leaves its place to others", async () => {
    const workflow = defineWorkflow({ name: "taken" }, async (_event, step) => {
      await step.sleep("night", "10 minutes");
    });
    const short = defineWorkflow({ name: "short" }, async () => "done");
    const process = subject.start({ workflow, short }, { concurrency: 1 });
    const instance = await process.workflows.workflow.create({ id: "one" });
    await untilStatus(subject.clock, instance, "waiting");
    const gate = new Gate();
    const { instances } = process.store;
    const load = instances.load.bind(instances);
    const loads = vi.spyOn(instances, "load").mockImplementation(async (...parameters) => {
      await gate.opened;
      return load(...parameters);
    });
    await subject.clock.advanceAndSettle(600_000);
    await withTime(subject.clock, () => expect(loads).toHaveBeenCalled());
    await instance.terminate();
    gate.open();

    const other = await process.workflows.short.create({ id: "two" });
    await untilStatus(subject.clock, other, "complete");
  });
});

describe.each(ENGINES)("an event that is sent again, on $name", (engine) => {
  const subject = useWorkflows(engine);

  test("was accepted, also when the instance is finished by then", async () => {
    const workflow = defineWorkflow({ name: "told" }, async (_event, step) => {
      await step.waitForEvent("news", { type: "news" });
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });
    await instance.sendEvent({ type: "news", id: "first" });
    await untilStatus(subject.clock, instance, "complete");

    await expect(instance.sendEvent({ type: "news", id: "first" })).resolves.toBeUndefined();
    await expect(instance.sendEvent({ type: "news", id: "second" })).rejects.toMatchObject({
      code: "instance.finished",
    });
  });
});

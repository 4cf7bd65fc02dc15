import { describe, expect, test } from "vitest";
import { AttemptAbortedError, defineWorkflow } from "../../src/index.ts";
import { forever, Gate } from "../hooks/support/handlers.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually, untilStatus, useWorkflows, withTime } from "./support/use-workflows.ts";

describe.each(ENGINES)("timeouts of steps on $name", (engine) => {
  const subject = useWorkflows(engine);

  test("abort the signal, and the step is tried again", async () => {
    const reasons: unknown[] = [];
    const workflow = defineWorkflow({ name: "slow" }, async (_event, step) =>
      step.do("work", { timeout: "20 seconds" }, async ({ attempt, signal }) => {
        if (attempt > 1) return "second";
        signal.addEventListener("abort", () => reasons.push(signal.reason));
        return forever();
      }),
    );
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create();
    await untilStatus(subject.clock, instance, "complete");

    expect(await instance.result()).toBe("second");
    expect(reasons).toEqual([expect.any(AttemptAbortedError)]);
    expect(reasons[0]).toMatchObject({ code: "step.timeout" });
    const { entries } = await instance.history();
    expect(entries.map(({ kind }) => kind)).toEqual(["failed", "completed"]);
  });

  test("are ten minutes where nothing else is said", async () => {
    let runs = 0;
    const workflow = defineWorkflow({ name: "slow" }, async (_event, step) =>
      step.do("work", async () => (++runs === 1 ? forever() : "again")),
    );
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create();
    await eventually(() => expect(runs).toBe(1));
    for (let passed = 0; passed < 595_000; passed += 5000) await subject.clock.advanceAndSettle(5000);
    expect(runs).toBe(1);
    await withTime(subject.clock, () => expect(runs).toBe(2));

    await expect(instance.result()).resolves.toBe("again");
  });

  test("leave late results without effect, live and stored", async () => {
    const gate = new Gate();
    const workflow = defineWorkflow({ name: "late" }, async (_event, step) => {
      const result = await step.do("work", { timeout: "2 seconds", retries: { delay: 1 } }, async ({ attempt }) => {
        if (attempt === 1) {
          await gate.opened;
          return "late";
        }
        gate.open();
        for (let turn = 0; turn < 5; turn++) await null;
        return "in time";
      });
      await step.do("after", () => {});
      return result;
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create();
    await untilStatus(subject.clock, instance, "complete");

    expect(await instance.result()).toBe("in time");
    const { entries } = await instance.history();
    expect(entries.flatMap(({ output }) => (output === undefined ? [] : [output]))).toEqual(["in time"]);
  });

  test("fail the step when no attempt is left", async () => {
    const workflow = defineWorkflow({ name: "never" }, async (_event, step) =>
      step.do("work", { timeout: 500, retries: { limit: 1, delay: 0 } }, () => forever()),
    );
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create();
    await untilStatus(subject.clock, instance, "errored");

    await expect(instance.result()).rejects.toMatchObject({ cause: { code: "step.timeout" } });
  });

  test("end attempts of a workflow that is over", async () => {
    const reasons: unknown[] = [];
    const workflow = defineWorkflow({ name: "over" }, async (_event, step) => {
      const left = step.do("left", async ({ signal }) => {
        signal.addEventListener("abort", () => reasons.push(signal.reason.code));
        return forever();
      });
      return Promise.race([left, step.do("quick", () => "quick")]);
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create();

    await expect(instance.result()).resolves.toBe("quick");
    await eventually(() => expect(reasons).toEqual(["workflow.finished"]));
  });
});

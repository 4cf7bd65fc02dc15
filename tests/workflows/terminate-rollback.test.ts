import { describe, expect, test } from "vitest";
import { defineWorkflow, type WorkflowEvent } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { untilFarOff } from "./support/lose-process.ts";
import { eventually, untilStatus, useWorkflows } from "./support/use-workflows.ts";

describe.each(ENGINES)("terminating with a rollback on $name", (engine) => {
  const subject = useWorkflows(engine);

  type Mode = "sleep" | "event" | "work" | "retry" | "plain";

  /** A workflow that charges, and then does what it is told; its rollback may be held up. */
  function checkout() {
    const undone: string[] = [];
    const begun: string[] = [];
    const gate = { open: true, release: () => {} };
    const workflow = defineWorkflow({ name: "checkout" }, async (event: WorkflowEvent<Mode>, step) => {
      const undo = (name: string) => ({
        rollback: async ({ error }: { error: Error }) => {
          undone.push(`${name} ${error.name}`);
          if (!gate.open) await new Promise<void>((resolve) => (gate.release = resolve));
        },
      });
      if (event.payload !== "plain") await step.do("charge", () => 1, undo("charge"));
      await step.do("pack", () => 1);
      if (event.payload === "event") await step.waitForEvent("word", { type: "word" });
      if (event.payload === "retry") {
        const retries = { limit: 3, delay: "1 day" } as const;
        await step.do("flaky", { retries }, () => Promise.reject(new Error("later")), undo("flaky"));
      }
      if (event.payload === "work") {
        const work = () => {
          begun.push("work");
          return new Promise<void>(() => {});
        };
        await step.do("work", work, undo("work"));
      }
      await step.sleep("long", "1 day");
    });
    return { workflow, undone, begun, gate };
  }

  const TERMINATED = "WorkflowTerminatedError";
  const CASES: { mode: Mode; paused: boolean; expected: string[] }[] = [
    { mode: "sleep", paused: false, expected: [`charge ${TERMINATED}`] },
    { mode: "sleep", paused: true, expected: [`charge ${TERMINATED}`] },
    { mode: "event", paused: false, expected: [`charge ${TERMINATED}`] },
    { mode: "retry", paused: false, expected: [`flaky ${TERMINATED}`, `charge ${TERMINATED}`] },
    { mode: "work", paused: false, expected: [`work ${TERMINATED}`, `charge ${TERMINATED}`] },
    { mode: "plain", paused: false, expected: [] },
  ];

  describe.each(["the process that has it", "another process"])("by %s", (who) => {
    test.each(CASES)("rolls back what has begun: $mode, paused: $paused", async ({ mode, paused, expected }) => {
      const { workflow, undone, begun } = checkout();
      const runner = subject.start({ workflow });
      const operator = who === "another process" ? subject.process({ workflow }) : runner;
      const created = await runner.workflows.workflow.create({ id: "one", params: mode });
      if (mode === "work") await eventually(() => expect(begun).toEqual(["work"]));
      else await untilFarOff(subject, created);
      const instance = await operator.workflows.workflow.get("one");
      if (paused) await instance.pause();

      await instance.terminate({ rollback: true });
      await untilStatus(subject.clock, instance, "terminated");
      expect(undone).toEqual(expected);
      const { rollback } = await instance.status();
      expect(rollback).toEqual(expected.length === 0 ? undefined : { outcome: "complete" });
      await expect(instance.terminate({ rollback: true })).rejects.toMatchObject({ code: "instance.finished" });
      await expect(instance.result()).rejects.toMatchObject({ code: "workflow.terminated" });
    });
  });

  test("ends at once what never began", async () => {
    const { workflow, undone } = checkout();
    const { workflows } = subject.process({ workflow });
    const instance = await workflows.workflow.create({ params: "sleep" });
    await instance.terminate({ rollback: true });

    expect(await instance.status()).toMatchObject({ status: "terminated" });
    expect(undone).toEqual([]);
  });

  test("waits for a process that has the workflow, and says so", async () => {
    const { workflow, undone } = checkout();
    const first = subject.start({ workflow });
    await untilFarOff(subject, await first.workflows.workflow.create({ id: "one", params: "sleep" }));
    await first.close();
    const { workflows } = subject.process({ workflow });
    const instance = await workflows.workflow.get("one");
    await instance.terminate({ rollback: true });
    await instance.terminate({ rollback: true }); // it is under way: nothing changes

    expect(await instance.status()).toMatchObject({ status: "rollingBack", finishedAt: null });
    expect((await workflows.workflow.list({ status: "rollingBack" })).instances.map(({ id }) => id)).toEqual(["one"]);
    subject.start({ workflow });
    await untilStatus(subject.clock, instance, "terminated");
    expect(undone).toEqual([`charge ${TERMINATED}`]);
  });

  /** An instance in the middle of its rollback. */
  async function inTheMiddle() {
    const sample = checkout();
    sample.gate.open = false;
    const runner = subject.start({ workflow: sample.workflow });
    const instance = await runner.workflows.workflow.create({ id: "one", params: "retry" });
    await untilFarOff(subject, instance);
    await instance.terminate({ rollback: true });
    await eventually(() => expect(sample.undone).toHaveLength(1));
    return { ...sample, runner, instance };
  }

  test("can itself be ended at once, which its status reports", async () => {
    const { instance, undone, gate } = await inTheMiddle();
    await instance.terminate();

    expect(await instance.status()).toMatchObject({
      status: "terminated",
      rollback: { outcome: "failed", error: { name: TERMINATED } },
    });
    gate.release();
    await subject.clock.advanceAndSettle(1000);
    expect(undone).toHaveLength(1);
  });

  test("comes to rest when it is paused, and continues when it is resumed", async () => {
    const { instance, undone, gate } = await inTheMiddle();
    await instance.pause();
    expect(await instance.status()).toMatchObject({ status: "waitingForPause" });
    gate.open = true;
    gate.release();
    await untilStatus(subject.clock, instance, "paused");
    expect(undone).toHaveLength(1);

    await instance.resume();
    await untilStatus(subject.clock, instance, "terminated");
    expect(undone).toEqual([`flaky ${TERMINATED}`, `charge ${TERMINATED}`]);
  });

  test("gives way to a restart, and to a deletion", async () => {
    const { instance, undone, gate } = await inTheMiddle();
    await instance.restart();
    await untilFarOff(subject, instance);
    const { run, rollback } = await instance.status();
    expect({ run, rollback }).toEqual({ run: 2, rollback: undefined });
    expect((await instance.history()).earlierRuns).toMatchObject([{ run: 1, status: "rollingBack" }]);
    await instance.terminate({ rollback: true });
    await eventually(() => expect(undone).toHaveLength(2));
    await instance.delete();
    gate.release();
    await expect(instance.status()).rejects.toMatchObject({ code: "instance.not_found" });
  });

  test("lets the running rollback end at a shutdown, and continues elsewhere", async () => {
    const { instance, undone, gate, runner, workflow } = await inTheMiddle();
    gate.open = true;
    const closed = runner.dispatcher.stopPolling({ deadlineMs: 60_000 });
    gate.release();
    await closed;
    expect(undone).toHaveLength(1);
    subject.start({ workflow });
    await untilStatus(subject.clock, instance, "terminated");
    expect(undone).toEqual([`flaky ${TERMINATED}`, `charge ${TERMINATED}`]);
  });

  test("refuses options that it doesn't know", async () => {
    const { workflow } = checkout();
    const { workflows } = subject.process({ workflow });
    const instance = await workflows.workflow.create({ params: "sleep" });
    for (const options of [{ rollback: "yes" }, { roll: true }, 5]) {
      await expect(instance.terminate(options as never)).rejects.toMatchObject({ code: "options.invalid" });
    }
    expect(await instance.status()).toMatchObject({ status: "queued" });
  });
});

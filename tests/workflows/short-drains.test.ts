import { describe, expect, test } from "vitest";
import { defineWorkflow, type WorkflowStep } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { outliveLeases } from "./support/lose-process.ts";
import { becomes } from "./support/sample.ts";
import { eventually, useWorkflows } from "./support/use-workflows.ts";

const WAIT_MS = 4000;
const DRAIN_MS = 1500;

/** Waits that are held in memory. Each takes four seconds. */
const WAITS: readonly { readonly title: string; readonly wait: (step: WorkflowStep) => Promise<unknown> }[] = [
  { title: "a sleep", wait: (step) => step.sleep("wait", WAIT_MS) },
  {
    title: "a wait for an event that doesn't come",
    wait: (step) => step.waitForEvent("wait", { type: "word", timeout: WAIT_MS }).catch(() => {}),
  },
  {
    title: "the delay before a retry",
    wait: (step) =>
      step.do("wait", { retries: { limit: 2, delay: WAIT_MS, backoff: "constant" } }, ({ attempt }) => {
        if (attempt === 1) throw new Error("not yet");
      }),
  },
];

describe.each(ENGINES)("short waits on $name", (engine) => {
  const subject = useWorkflows(engine);

  function program(wait: (step: WorkflowStep) => Promise<unknown>, { first }: { first: boolean }) {
    const runs = { first: 0, after: 0 };
    const workflow = defineWorkflow({ name: "held" }, async (_event, step) => {
      if (first) await step.do("first", () => void runs.first++);
      await wait(step);
      await step.do("after", () => void runs.after++);
    });
    return { workflow, runs };
  }

  /** One after the other, while time passes, as something outside calls them. Returns how much time has passed. */
  async function drainUntil(process: ReturnType<typeof subject.process>, isOver: () => boolean): Promise<number> {
    const begin = subject.clock.now();
    while (!isOver() && subject.clock.now() - begin < 5 * WAIT_MS) {
      let drained = false;
      const drain = process.dispatcher.drain({ deadlineMs: DRAIN_MS }).finally(() => {
        drained = true;
      });
      while (!drained) await subject.clock.advanceAndSettle(100);
      await drain;
    }
    return subject.clock.now() - begin;
  }

  for (const { title, wait } of WAITS) {
    test.each([{ first: true }, { first: false }])(
      `${title} ends over drains that are shorter than it (after a step: $first)`,
      async ({ first }) => {
        const { workflow, runs } = program(wait, { first });
        const process = subject.process({ workflow });
        await process.workflows.workflow.create();
        const passed = await drainUntil(process as never, () => runs.after > 0);
        expect(runs.after).toBe(1);
        expect(passed).toBeLessThan(WAIT_MS + 2 * DRAIN_MS);
      },
    );

    test(`${title} keeps its deadline when its process is lost after the commit of the step before it`, async () => {
      const { workflow, runs } = program(wait, { first: true });
      const lost = subject.start({ workflow }, { clock: subject.anotherClock() });
      const { id } = await lost.workflows.workflow.create();
      const next = subject.process({ workflow });
      const instance = await next.workflows.workflow.get(id);
      await eventually(async () =>
        expect((await instance.history()).entries.at(-1)?.dueAt?.getTime()).toBe(subject.clock.now() + WAIT_MS),
      );
      outliveLeases(subject);
      next.start();
      await becomes(instance, "complete"); // no more time passes
      expect(runs).toEqual({ first: 1, after: 1 });
    });
  }

  test("an instance that only waits when its process stops is due when its wait is over", async () => {
    const { workflow } = program((step) => step.sleep("wait", WAIT_MS), { first: true });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create();
    await becomes(instance, "waiting");
    const begin = subject.clock.now();
    await process.stop();
    expect((await process.processor.getNextWakeAt())?.getTime()).toBe(begin + WAIT_MS);
  });
});

import { afterEach, describe, expect, test, vi } from "vitest";
import { CodecError, StoreError } from "../../src/errors.ts";
import { defineWorkflow, type WorkflowStep } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { becomes } from "./support/sample.ts";
import { eventually, untilStatus, useWorkflows } from "./support/use-workflows.ts";

const WAIT_MS = 4000;

/** Waits of four seconds, which are held in memory, each beside one for an event that comes. */
const WAITS: readonly { readonly title: string; readonly wait: (step: WorkflowStep) => Promise<unknown> }[] = [
  { title: "a short sleep", wait: (step) => step.sleep("wait", WAIT_MS) },
  {
    title: "a short wait for an event that doesn't come",
    wait: (step) => step.waitForEvent("wait", { type: "other", timeout: WAIT_MS }).catch(() => {}),
  },
];

const refused = new StoreError("store.rejected", "permission denied for table event", { transient: false });
const FAILURES: readonly (readonly [failure: string, error: Error])[] = [
  ["can't be read", refused],
  ["can't be decoded", new CodecError("codec.failed", "no key")],
];

describe.each(ENGINES)("waits in memory whose database fails on $name", (engine) => {
  const subject = useWorkflows(engine);

  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** An instance of whose waits nothing is written yet. */
  async function hold(wait: (step: WorkflowStep) => Promise<unknown>) {
    const workflow = defineWorkflow({ name: "held" }, async (_event, step) => {
      await Promise.all([wait(step), step.waitForEvent("word", { type: "word", timeout: WAIT_MS })]);
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create();
    await becomes(instance, "waiting");
    expect((await instance.history()).entries).toEqual([]);
    const deadlineWritten = async () =>
      (await instance.history()).entries.find(({ name }) => name === "wait")?.dueAt?.getTime();
    const { statements } = process.store.instances;
    return { instance, statements, deadline: subject.clock.now() + WAIT_MS, deadlineWritten };
  }

  for (const { title, wait } of WAITS) {
    test.each(FAILURES)(`${title} keeps its deadline when events %s`, async (_failure, error) => {
      const { instance, statements, deadline, deadlineWritten } = await hold(wait);
      await subject.clock.advanceAndSettle(1000);
      vi.spyOn(statements, "loadEvents").mockRejectedValue(error);
      await instance.sendEvent({ type: "word" });
      await eventually(async () => expect(await deadlineWritten()).toBe(deadline));
      vi.restoreAllMocks();
      await untilStatus(subject.clock, instance, "complete");
    });
  }
});

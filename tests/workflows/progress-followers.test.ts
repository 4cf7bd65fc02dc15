import { describe, expect, test } from "vitest";
import { defineWorkflow, type WorkflowInstance, type WorkflowStep, type WorkflowStepContext } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { follow } from "./support/followed.ts";
import { replaceProcess } from "./support/lose-process.ts";
import { becomes } from "./support/sample.ts";
import { useWorkflows, withTime } from "./support/use-workflows.ts";

/** Longer than progress is kept after the end of its step, and than a process waits until it looks again. */
const LONG_AFTER_MS = 120_000;
const TOKENS = Array.from({ length: 120 }, (_, index) => `token ${index}`);

describe.each(ENGINES)("progress that a step emitted without waiting, on $name", (engine) => {
  const subject = useWorkflows(engine);

  const told = async (instance: Pick<WorkflowInstance, "history">) => {
    const { entries } = await instance.history({ limit: 1000 });
    return entries.filter(({ kind }) => kind === "progress").map(({ progress }) => progress);
  };

  const valuesOf = async (instance: Pick<WorkflowInstance, "subscribe">) =>
    (await follow(instance, { filter: ["step_progress"] })).map((event) => "value" in event && event.value);

  const emitAll = (ctx: WorkflowStepContext) => {
    for (const token of TOKENS) void ctx.emit(token);
  };

  const ENDINGS: [string, (step: WorkflowStep) => Promise<unknown>][] = [
    ["has ended", (step) => step.do("answer", (ctx) => emitAll(ctx))],
    [
      "has failed",
      (step) =>
        step.do("answer", { retries: { limit: 0 } }, (ctx) => {
          emitAll(ctx);
          throw new Error("no");
        }),
    ],
    [
      "runs inside another",
      (step) => step.do("outer", () => step.do("answer", async (ctx) => emitAll(ctx)).then(() => "done")),
    ],
  ];

  test.each(ENDINGS)("reaches a follower in another process although the step %s at once", async (_, run) => {
    const workflow = defineWorkflow({ name: "tells" }, async (_event, step) => {
      await step.waitForEvent("go", { type: "go" });
      await run(step).catch(() => {});
      await step.do("after", () => 0);
    });
    const process = subject.start({ workflow });
    const other = subject.process({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });
    const following = valuesOf(await other.workflows.workflow.get("one"));
    await becomes(instance, "waiting");
    await instance.sendEvent({ type: "go", payload: null });
    let values: unknown;
    void following.then((all) => {
      values = all;
    });
    await withTime(subject.clock, () => expect(values).toBeDefined());

    expect(values).toEqual(TOKENS);
  });

  test("reaches a follower that comes a moment after the end of the run, and is dropped later", async () => {
    const workflow = defineWorkflow({ name: "tells" }, async (_event, step) => {
      await step.do("answer", (ctx) => emitAll(ctx));
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });
    await instance.result();
    await subject.clock.advanceAndSettle(5000);

    expect(await valuesOf(instance)).toEqual(TOKENS);
    await subject.clock.advanceAndSettle(LONG_AFTER_MS);
    await withTime(subject.clock, async () => expect(await told(instance)).toEqual([]));
    expect(await valuesOf(instance)).toEqual([]);
  });

  test.each(["dropped", "kept"])(
    "is %s for all attempts, also those before a park and under an older name",
    async (fate) => {
      const keep = fate === "kept" ? { progress: "keep" as const } : {};
      const retries = { limit: 2, delay: "1 hour", backoff: "constant" } as const;
      const define = (name: string, aliases: string[]) =>
        defineWorkflow({ name: "tells" }, async (_event, step) => {
          await step.do(name, { retries, aliases, ...keep }, (ctx) => {
            void ctx.emit(`attempt ${ctx.attempt}`);
            if (ctx.attempt < 3) throw new Error("not yet");
          });
          await step.sleep("long", "1 day");
        });
      const first = subject.start({ workflow: define("old", []) });
      const created = await first.workflows.workflow.create({ id: "one" });
      await becomes(created, "waiting");
      await subject.clock.advanceAndSettle(3_600_000);
      await withTime(subject.clock, async () => expect(await told(created)).toEqual(["attempt 1", "attempt 2"]));
      const second = await replaceProcess(subject, first, { workflow: define("new", ["old"]) });
      await subject.clock.advanceAndSettle(3_600_000);
      const instance = await second.workflows.workflow.get("one");
      const all = ["attempt 1", "attempt 2", "attempt 3"];
      await withTime(subject.clock, async () => {
        const { entries } = await instance.history();
        expect(entries.map(({ kind }) => kind)).toContain("completed");
      });
      expect(await told(instance)).toEqual(all);
      await subject.clock.advanceAndSettle(LONG_AFTER_MS);

      await withTime(subject.clock, async () => expect(await told(instance)).toEqual(fate === "kept" ? all : []));
    },
  );

  test("is dropped by the next process if its own ends before that", async () => {
    const workflow = defineWorkflow({ name: "tells" }, async (_event, step) => {
      await step.do("answer", (ctx) => emitAll(ctx));
      await step.sleep("long", "1 hour");
      await step.sleep("longer", "1 day");
    });
    const first = subject.start({ workflow });
    const created = await first.workflows.workflow.create({ id: "one" });
    await becomes(created, "waiting");
    const second = await replaceProcess(subject, first, { workflow });
    const instance = await second.workflows.workflow.get("one");
    expect(await told(instance)).toEqual(TOKENS);
    await subject.clock.advanceAndSettle(3_600_000);

    await withTime(subject.clock, async () => expect(await told(instance)).toEqual([]));
  });
});

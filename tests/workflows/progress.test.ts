import { afterEach, describe, expect, test, vi } from "vitest";
import { defineWorkflow, type WorkflowInstance, type WorkflowInstanceEvent } from "../../src/index.ts";
import { EVENT_TYPES as EVERYTHING } from "../../src/workflows/views/subscribe.ts";
import { forever, Gate } from "../hooks/support/handlers.ts";
import { ENGINES } from "../support/engines.ts";
import { follow, inWords } from "./support/followed.ts";
import { becomes } from "./support/sample.ts";
import { eventually, LEASE_MS, useWorkflows, withTime } from "./support/use-workflows.ts";

/** Longer than progress is kept after the end of its step. */
const LONG_AFTER_MS = 120_000;

describe.each(ENGINES)("progress of steps on $name", (engine) => {
  const subject = useWorkflows(engine);

  afterEach(() => {
    vi.restoreAllMocks();
  });

  const told = async (instance: Pick<WorkflowInstance, "history">) => {
    const { entries } = await instance.history({ limit: 1000 });
    return entries.filter(({ kind }) => kind === "progress").map(({ progress }) => progress);
  };

  /** What is stored of it, dropped or not. */
  const positions = async (instance: Pick<WorkflowInstance, "history">) =>
    (await instance.history({ limit: 1000 })).entries.map(({ position }) => position);

  test("is visible while the step runs, in order, in the history and to subscribers", async () => {
    const gate = new Gate();
    const workflow = defineWorkflow({ name: "loads" }, async (_event, step) => {
      return step.do("load", async (ctx) => {
        await ctx.emit({ done: 1 });
        void ctx.emit(new Date(0));
        await ctx.emit(3n);
        await gate.opened;
        return "loaded";
      });
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });
    using subscription = await instance.subscribe({ filter: ["step_started", "attempt_started", "step_progress"] });
    const events: WorkflowInstanceEvent[] = [];
    while (events.length < 5) events.push((await subscription.next()).value as WorkflowInstanceEvent);

    expect(events.map(inWords)).toEqual([
      "step_started load",
      "attempt_started load 1",
      ...Array.from({ length: 3 }, () => "step_progress load 1"),
    ]);
    expect(events.slice(2)).toMatchObject([{ value: { done: 1 } }, { value: new Date(0) }, { value: 3n }]);
    expect(await told(instance)).toEqual([{ done: 1 }, new Date(0), 3n]);
    gate.open();
    await expect(instance.result()).resolves.toBe("loaded");
  });

  test.each(["dropped", "kept"])("is %s when the step is done, as configured", async (fate) => {
    const config = fate === "kept" ? ({ progress: "keep" } as const) : {};
    const workflow = defineWorkflow({ name: "loads" }, async (_event, step) => {
      await step.do("before", () => 0);
      await step.do("load", config, async (ctx) => {
        for (const part of [1, 2, 3]) await ctx.emit(part);
      });
      await step.do("after", () => 0);
      await step.sleep("long", "1 hour");
      await step.do("late", () => 0);
      return "done";
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });
    await becomes(instance, "waiting");
    const kept = fate === "kept" ? [1, 2, 3] : [];
    await subject.clock.advanceAndSettle(LONG_AFTER_MS);
    await withTime(subject.clock, async () => expect(await told(instance)).toEqual(kept));
    await process.close();
    const next = subject.start({ workflow });
    await subject.clock.advanceAndSettle(3_600_000);
    const again = await next.workflows.workflow.get("one");
    await withTime(subject.clock, async () => expect(await again.status()).toMatchObject({ status: "complete" }));

    const all = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    expect(await positions(again)).toEqual(fate === "kept" ? all : all.filter((at) => at < 2 || at > 4));
    expect(await follow(again, { filter: ["step_progress"] })).toHaveLength(kept.length);
    const events = await follow(again);
    expect(events.map(({ type }) => type)).not.toContain("step_progress");
    // Where the beginning was told it stays, so that cursors do.
    const begun = events.find((event) => inWords(event) === "step_started load") as WorkflowInstanceEvent;
    const rest = await follow(again, { cursor: begun.eventId });
    expect(rest.map(inWords)).not.toContain("step_started load");
    expect(rest).toEqual(events.slice(events.indexOf(begun) + 1));
  });

  test("goes in few commits, however much there is at once", async () => {
    const workflow = defineWorkflow({ name: "loads" }, async (_event, step) => {
      await step.do("load", { progress: "keep" }, async (ctx) => {
        await Promise.all(Array.from({ length: 500 }, (_, index) => ctx.emit(index)));
      });
    });
    const process = subject.start({ workflow });
    const commit = vi.spyOn(process.store.instances, "commit");
    const instance = await process.workflows.workflow.create({ id: "one" });
    await instance.result();

    expect(await told(instance)).toEqual(Array.from({ length: 500 }, (_, index) => index));
    expect(commit.mock.calls.length).toBeLessThan(5);
  });

  test("is refused when the attempt has ended, and when it is too much", async () => {
    const late: (() => Promise<void>)[] = [];
    const workflow = defineWorkflow({ name: "loads" }, async (_event, step) => {
      await step.do("load", async (ctx) => {
        late.push(() => ctx.emit("late"));
        expect(() => ctx.emit("x".repeat(20_000))).toThrowError(expect.objectContaining({ code: "value.too_large" }));
        expect(() => ctx.emit(() => {})).toThrowError(expect.objectContaining({ code: "value.unsupported" }));
      });
      await step.do("too many", { retries: { limit: 0 } }, async (ctx) => {
        for (let index = 0; index <= 10_000; index++) void ctx.emit(0);
      });
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });

    await expect(instance.result()).rejects.toMatchObject({ cause: { code: "progress.too_many" } });
    await expect(late[0]?.()).rejects.toMatchObject({ code: "progress.refused" });
    const refused = defineWorkflow({ name: "refused" }, async (_event, step) => {
      await step.do("load", { progress: "drop" } as never, () => 0);
    });
    const other = subject.start({ refused });
    const failed = await other.workflows.refused.create();
    await expect(failed.result()).rejects.toMatchObject({ cause: { code: "step.invalid" } });
  });

  /**
   * Runs it in one process after the other, each of which stops for ever in the middle of the step, after it told something.
   */
  async function lose(times: number, limit: number, sibling: "hangs" | "ends") {
    const attempts: number[] = [];
    const beside: number[] = [];
    const workflow = defineWorkflow({ name: "poisoned" }, async (_event, step) => {
      const hangs = (seen: number[]) => async (ctx: { attempt: number; emit(value: unknown): Promise<void> }) => {
        seen.push(ctx.attempt);
        await ctx.emit(`attempt ${ctx.attempt}`);
        return attempts.length <= times ? forever() : "survived";
      };
      const silent = (ctx: { attempt: number }) => {
        beside.push(ctx.attempt);
        return sibling === "hangs" && attempts.length <= times ? forever() : "survived";
      };
      const retries = { limit };
      return Promise.all([step.do("told", { retries }, hangs(attempts)), step.do("silent", { retries }, silent)]);
    });
    for (let loss = 0; loss < times; loss++) {
      const lost = subject.start({ workflow }, { clock: subject.anotherClock() });
      if (loss === 0) await lost.workflows.workflow.create({ id: "one" });
      const instance = await lost.workflows.workflow.get("one");
      await withTime(lost.clock, async () => expect(await told(instance)).toHaveLength(loss + 1));
      vi.spyOn(lost.store.instances.statements, "claim").mockResolvedValue([]); // it is gone, and takes nothing over
      await subject.clock.advanceAndSettle(lost.clock.now() - subject.clock.now() + 2 * LEASE_MS);
    }
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.get("one");
    await withTime(subject.clock, async () =>
      expect(["complete", "errored"]).toContain((await instance.status()).status),
    );
    return { instance, attempts, beside };
  }

  test.each(["hangs", "ends"] as const)(
    "doesn't hide losses of the process: each uses up an attempt, while a step beside it %s",
    async (sibling) => {
      const { instance, attempts, beside } = await lose(2, 5, sibling);

      await expect(instance.result()).resolves.toEqual(["survived", "survived"]);
      expect(attempts).toEqual([1, 2, 3]);
      expect(beside).toEqual(sibling === "hangs" ? [1, 2, 3] : [1]);
    },
  );

  test("doesn't keep an instance alive that kills its processes", async () => {
    const { instance, attempts } = await lose(2, 1, "hangs");

    await expect(instance.result()).rejects.toMatchObject({ cause: { code: "step.interrupted" } });
    expect(attempts).toEqual([1, 2]);
  });

  test("of an owner that has lost the instance isn't written", async () => {
    const gate = new Gate();
    let emitted: Promise<void> | undefined;
    const workflow = defineWorkflow({ name: "slow" }, async (_event, step) => {
      await step.do("load", async (ctx) => {
        await ctx.emit("first");
        await gate.opened;
        emitted ??= ctx.emit("second");
        await emitted.catch(() => {});
      });
    });
    const lost = subject.start({ workflow }, { clock: subject.anotherClock() });
    const instance = await lost.workflows.workflow.create({ id: "one" });
    await withTime(lost.clock, async () => expect(await told(instance)).toEqual(["first"]));
    const other = subject.process({ workflow });
    await (await other.workflows.workflow.get("one")).terminate();
    gate.open();
    await eventually(() => expect(emitted).toBeDefined());

    await expect(emitted).rejects.toMatchObject({ code: "attempt.superseded" });
    expect(await told(instance)).toEqual(["first"]);
  });

  test("keeps cursors valid when it is dropped: a subscriber that returns receives new events, and none twice", async () => {
    const gate = new Gate();
    const workflow = defineWorkflow({ name: "loads" }, async (_event, step) => {
      await step.do("load", async (ctx) => {
        await ctx.emit(1);
        await gate.opened;
      });
      await step.do("after", () => 0);
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });
    const before: WorkflowInstanceEvent[] = [];
    using subscription = await instance.subscribe({ filter: EVERYTHING });
    while (before.at(-1)?.type !== "step_progress") {
      before.push((await subscription.next()).value as WorkflowInstanceEvent);
    }
    gate.open();
    await instance.result();
    await subject.clock.advanceAndSettle(LONG_AFTER_MS);
    await withTime(subject.clock, async () => expect(await told(instance)).toEqual([]));
    const rest = await follow(instance, { cursor: before.at(-1)?.eventId as number, filter: EVERYTHING });

    expect(rest.map(inWords)).toEqual([
      "attempt_completed load 1",
      "step_completed load",
      "step_started after",
      "attempt_started after 1",
      "attempt_completed after 1",
      "step_completed after",
      "workflow_completed",
    ]);
  });

  test("isn't something done: a process that tells it and then stops leaves earlier losses counted", async () => {
    const workflow = defineWorkflow({ name: "hangs" }, async (_event, step) => {
      await step.do("load", async (ctx) => {
        await ctx.emit(ctx.attempt);
        await forever();
      });
    });
    const lost = subject.start({ workflow }, { clock: subject.anotherClock() });
    const instance = await lost.workflows.workflow.create({ id: "one" });
    await withTime(lost.clock, async () => expect(await told(instance)).toEqual([1]));
    vi.spyOn(lost.store.instances.statements, "claim").mockResolvedValue([]); // it is gone, and takes nothing over
    await subject.clock.advanceAndSettle(lost.clock.now() - subject.clock.now() + 2 * LEASE_MS);
    const second = subject.start({ workflow });
    await withTime(subject.clock, async () => expect(await told(instance)).toEqual([1, 2]));
    await second.stop();

    const scopes = [{ namespace: subject.namespace, names: ["hangs"] }];
    const { statements } = second.store.instances;
    const [claimed] = await statements.claim({ scopes, limit: 1, takeOver: true, lock: "test", leaseMs: 1000 });
    expect(claimed).toMatchObject({ id: "one", recoveries: 1 });
  });
});

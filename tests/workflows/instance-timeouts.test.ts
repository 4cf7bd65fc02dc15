import { describe, expect, test, vi } from "vitest";
import { StoreError } from "../../src/errors.ts";
import { defineWorkflow, type WorkflowEvent } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { outliveLeases, untilFarOff } from "./support/lose-process.ts";
import { eventually, LEASE_MS, untilStatus, useWorkflows } from "./support/use-workflows.ts";

const HOUR = 3_600_000;

describe.each(ENGINES)("the timeout of an instance on $name", (engine) => {
  const subject = useWorkflows(engine);

  type Mode = "sleep" | "event" | "work" | "retry" | "quick";

  /** A workflow that charges, and then does what it is told. `more` are options of its definition. */
  function checkout(more: Record<string, unknown> = { timeout: "1 hour" }) {
    const undone: string[] = [];
    const begun: string[] = [];
    const signals: AbortSignal[] = [];
    const failures: unknown[] = [];
    const onErrored = (event: { readonly error: unknown }) => void failures.push(event.error);
    const workflow = defineWorkflow(
      { name: "checkout", ...more, onErrored },
      async (event: WorkflowEvent<Mode>, step) => {
        begun.push(event.instanceId);
        const rollback = async ({ error }: { error: Error }) =>
          void undone.push((error as Error & { code: string }).code);
        await step.do("charge", () => 1, { rollback });
        if (event.payload === "event") await step.waitForEvent("word", { type: "word", timeout: "1 year" });
        if (event.payload === "retry") {
          await step.do("flaky", { retries: { limit: 3, delay: "1 day" } }, () => Promise.reject(new Error("later")));
        }
        if (event.payload === "work") {
          const work = (signal: AbortSignal) => {
            signals.push(signal);
            return new Promise<void>(() => {});
          };
          await step.do("work", { timeout: "1 day" }, (ctx) => work(ctx.signal));
        }
        if (event.payload !== "quick") await step.sleep("long", "1 year");
        return "done";
      },
    );
    return { workflow, undone, begun, signals, failures };
  }

  const TIMED_OUT = { status: "errored", error: { name: "WorkflowTimeoutError" }, rollback: { outcome: "complete" } };

  test.each<Mode>(["sleep", "event", "retry"])("ends one that waits, and rolls it back: %s", async (params) => {
    const { workflow, undone, failures } = checkout();
    const { workflows } = subject.start({ workflow });
    const instance = await workflows.workflow.create({ params });
    await untilFarOff(subject, instance);
    subject.clock.advance(HOUR - 60_000);
    expect(await instance.status()).toMatchObject({ status: "waiting" });

    subject.clock.advance(60_000);
    await untilStatus(subject.clock, instance, "errored");
    expect(await instance.status()).toMatchObject(TIMED_OUT);
    expect(undone).toEqual(["workflow.timeout"]);
    await expect(instance.result()).rejects.toMatchObject({
      code: "workflow.failed",
      cause: { code: "workflow.timeout" },
    });
    await eventually(() => expect(failures).toMatchObject([{ code: "workflow.timeout" }]));
  });

  test("aborts a running step, in the process that runs it", async () => {
    const { workflow, undone, signals } = checkout({ timeout: "10 seconds" });
    const { workflows } = subject.start({ workflow });
    const instance = await workflows.workflow.create({ params: "work" });
    await eventually(() => expect(signals).toHaveLength(1));
    expect(signals[0]?.aborted).toBe(false);
    subject.clock.advance(10_000);
    await untilStatus(subject.clock, instance, "errored");
    expect(signals[0]?.aborted).toBe(true);
    expect(signals[0]?.reason).toMatchObject({ code: "attempt.superseded" });
    expect(undone).toEqual(["workflow.timeout"]);
  });

  test("aborts a running step when another process was first", async () => {
    const { workflow, signals } = checkout({ timeout: "10 seconds" });
    const own = subject.anotherClock();
    const runner = subject.start({ workflow }, { clock: own });
    const instance = await runner.workflows.workflow.create({ params: "work" });
    await eventually(() => expect(signals).toHaveLength(1));
    const other = subject.start({ workflow });
    subject.clock.advance(10_000);
    await untilStatus(subject.clock, await other.workflows.workflow.get(instance.id), "errored");
    expect(signals[0]?.aborted).toBe(false);

    own.advance(10_000); // less than a renewal
    await eventually(() => expect(signals[0]?.aborted).toBe(true));
  });

  test("ends one that is paused", async () => {
    const { workflow, undone } = checkout();
    const { workflows } = subject.start({ workflow });
    const instance = await workflows.workflow.create({ params: "sleep" });
    await untilFarOff(subject, instance);
    await instance.pause();
    subject.clock.advance(HOUR);
    await untilStatus(subject.clock, instance, "errored");
    expect(undone).toEqual(["workflow.timeout"]);
  });

  test("ends one that stands in line, without running it", async () => {
    const { workflow, begun, failures } = checkout({ timeout: "1 hour", concurrency: { limit: 1 } });
    const { workflows } = subject.start({ workflow });
    await workflows.workflow.create({ id: "first", params: "work" });
    await eventually(() => expect(begun).toEqual(["first"]));
    const second = await workflows.workflow.create({ id: "second", params: "quick", timeout: "10 seconds" });
    expect(await second.status()).toMatchObject({ status: "queued" });
    subject.clock.advance(10_000);
    await untilStatus(subject.clock, second, "errored");
    await expect(second.result()).rejects.toMatchObject({ cause: { code: "workflow.timeout" } });
    expect(begun).toEqual(["first"]);
    await eventually(() => expect(failures).toHaveLength(1));
  });

  test("holds when no process ran at the deadline", async () => {
    const { workflow, undone } = checkout();
    const first = subject.start({ workflow });
    const created = await first.workflows.workflow.create({ params: "sleep" });
    await untilFarOff(subject, created);
    await first.close();
    subject.clock.advance(3 * HOUR);
    const second = subject.start({ workflow });
    await untilStatus(subject.clock, await second.workflows.workflow.get(created.id), "errored");
    expect(undone).toEqual(["workflow.timeout"]);
  });

  test("holds when its owner was lost, and the next owner's deadline is the same", async () => {
    const { workflow, undone, signals } = checkout({ timeout: LEASE_MS * 2 });
    const lost = subject.start({ workflow }, { clock: subject.anotherClock() });
    const created = await lost.workflows.workflow.create({ params: "work" });
    await eventually(() => expect(signals).toHaveLength(1));
    const second = subject.start({ workflow });
    outliveLeases(subject);
    await eventually(() => expect(signals).toHaveLength(2));
    subject.clock.advance(LEASE_MS);
    await untilStatus(subject.clock, await second.workflows.workflow.get(created.id), "errored");
    expect(undone).toEqual(["workflow.timeout"]);
    expect(signals[1]?.aborted).toBe(true);
  });

  test("that is given to create wins, and a restart begins a new one", async () => {
    const { workflow } = checkout();
    const { workflows } = subject.start({ workflow });
    const instance = await workflows.workflow.create({ params: "event", timeout: "3 hours" });
    await untilFarOff(subject, instance);
    subject.clock.advance(2 * HOUR);
    await instance.restart();
    await untilFarOff(subject, instance);
    subject.clock.advance(2 * HOUR);
    await subject.clock.advanceAndSettle(100);
    expect(await instance.status()).toMatchObject({ status: "waiting" });
    subject.clock.advance(HOUR);
    await untilStatus(subject.clock, instance, "errored");
    expect(await instance.status()).toMatchObject({ error: { message: expect.stringContaining("10800000") } });

    await instance.restart();
    await untilStatus(subject.clock, instance, "waiting");
  });

  test("isn't applied to one that ended in time, or is rolled back because it failed", async () => {
    let fail = () => {};
    const undoing: string[] = [];
    const failing = defineWorkflow({ name: "failing", timeout: "1 hour" }, async (_event, step) => {
      const rollback = async () => {
        undoing.push("begun");
        await new Promise<void>((resolve) => (fail = resolve));
      };
      await step.do("charge", () => 1, { rollback, rollbackConfig: { timeout: "1 day" } });
      throw new Error("It failed by itself.");
    });
    const { workflow } = checkout();
    const { workflows } = subject.start({ workflow, failing });
    const quick = await workflows.workflow.create({ params: "quick" });
    await untilStatus(subject.clock, quick, "complete");
    const failed = await workflows.failing.create();
    await eventually(() => expect(undoing).toHaveLength(1));
    subject.clock.advance(2 * HOUR);
    await subject.clock.advanceAndSettle(100);
    expect(await failed.status()).toMatchObject({ status: "rollingBack" });
    fail();
    await untilStatus(subject.clock, failed, "errored");
    expect(await failed.status()).toMatchObject({ error: { message: "It failed by itself." } });
    expect(await quick.status()).toMatchObject({ status: "complete" });
  });

  test("ends an instance even if the event that it waits for arrives at the same time", async () => {
    const { workflow, undone } = checkout();
    const first = subject.start({ workflow });
    const created = await first.workflows.workflow.create({ params: "event" });
    await untilFarOff(subject, created);
    await first.close();
    subject.clock.advance(HOUR);
    const second = subject.process({ workflow });
    const instance = await second.workflows.workflow.get(created.id);
    await instance.sendEvent({ type: "word", payload: null });
    second.start();
    await untilStatus(subject.clock, instance, "errored");
    expect(undone).toEqual(["workflow.timeout"]);
  });

  test("reaches a parent that waits", async () => {
    const child = defineWorkflow({ name: "child" }, async (_event, step) => {
      await step.sleep("long", "1 year");
    });
    const parent = defineWorkflow(
      { name: "parent", concurrency: { limit: 1 } },
      async (_event, _step, { workflows }) => {
        const created = await (
          workflows as never as { child: { create(options: object): Promise<{ result(): Promise<unknown> }> } }
        ).child.create({
          id: "kid",
          timeout: "1 hour",
        });
        return created.result().catch((error: Error & { cause: { code: string } }) => error.cause.code);
      },
    );
    const { workflows } = subject.start({ child, parent });
    const instance = await workflows.parent.create();
    await eventually(async () => untilFarOff(subject, await workflows.child.get("kid")));
    subject.clock.advance(HOUR);
    await untilStatus(subject.clock, instance, "complete");
    expect(await instance.status()).toMatchObject({ output: "workflow.timeout" });
  });

  test("ends more instances than are read at once", async () => {
    const { workflow, undone } = checkout({ timeout: "1 hour" });
    const first = subject.process({ workflow });
    const instances = Array.from({ length: 100 }, (_, index) => ({ id: `${index}`, params: "quick" as const }));
    await first.workflows.workflow.createBatch(instances);
    await first.workflows.workflow.create({ id: "last", params: "quick" });
    subject.clock.advance(HOUR);
    await first.drain();
    expect((await first.workflows.workflow.list({ status: "errored", limit: 1000 })).instances).toHaveLength(101);
    expect(undone).toEqual([]);
  });

  test("holds when the database fails at the deadline", async () => {
    const { workflow, undone } = checkout();
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ params: "sleep" });
    await untilFarOff(subject, instance);
    const failure = new StoreError("store.rejected", "no connection", { transient: true });
    const deadlines = vi.spyOn(process.store.instances.statements, "deadlines").mockRejectedValueOnce(failure);
    subject.clock.advance(HOUR);
    await untilStatus(subject.clock, instance, "errored");
    expect(deadlines.mock.calls.length).toBeGreaterThan(1);
    expect(undone).toEqual(["workflow.timeout"]);
  });

  test("must be a duration", async () => {
    expect(() => defineWorkflow({ name: "bad", timeout: {} as never }, async () => {})).toThrow(/timeout must be/);
    const { workflow } = checkout();
    const { workflows } = subject.process({ workflow });
    const create = workflows.workflow.create({ params: "quick", timeout: "soon" as never });
    await expect(create).rejects.toMatchObject({ code: "duration.invalid" });
  });
});

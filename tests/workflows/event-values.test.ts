import { afterEach, describe, expect, test, vi } from "vitest";
import { defineWorkflow, type Workflows } from "../../src/index.ts";
import { forever } from "../hooks/support/handlers.ts";
import { ENGINES } from "../support/engines.ts";
import { follow, inWords } from "./support/followed.ts";
import { untilFarOff } from "./support/lose-process.ts";
import { untilStatus, useWorkflows, type WorkflowProcess, withTime } from "./support/use-workflows.ts";

const COMMIT_MS = 700;

describe.each(ENGINES)("events about a run on $name", (engine) => {
  const subject = useWorkflows(engine);

  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** Each commit takes its time: what is left of a delay when it is written is less than what was computed. */
  function commitSlowly<Registry extends Workflows>(process: WorkflowProcess<Registry>): void {
    const { instances } = process.store;
    const commit = instances.commit.bind(instances);
    vi.spyOn(instances, "commit").mockImplementation((one) => {
      subject.clock.advance(COMMIT_MS);
      return commit(one);
    });
  }

  test("have the computed delays of retries, also of rollbacks", async () => {
    const retries = { limit: 2, delay: "10 seconds" } as const;
    const failing = defineWorkflow({ name: "failing" }, async (_event, step) => {
      const rollback = () => Promise.reject(new Error("not yet"));
      await step.do("begin", () => 0, { rollback, rollbackConfig: { retries: { limit: 1, delay: "1 minute" } } });
      await step.do("work", { retries }, () => {
        throw new Error("no");
      });
    });
    const process = subject.start({ failing });
    commitSlowly(process);
    const instance = await process.workflows.failing.create();
    await untilStatus(subject.clock, instance, "errored");
    const errored = await follow(instance, { filter: ["attempt_errored", "rollback_attempt_errored"] });

    expect(errored.map((event) => [inWords(event), "retryDelayMs" in event ? event.retryDelayMs : null])).toEqual([
      ["attempt_errored work 1", 10_000],
      ["attempt_errored work 2", 20_000],
      ["attempt_errored work 3", null],
      ["rollback_attempt_errored begin 1", 60_000],
      ["rollback_attempt_errored begin 2", null],
    ]);
    expect(errored[0]).toMatchObject({ error: { name: "Error", message: "no" } });
  });

  test("has the durations of sleeps as they were asked for, whether they are parked or held", async () => {
    const sleepy = defineWorkflow({ name: "sleepy" }, async (_event, step) => {
      const values: unknown[] = [await step.sleep("long", "1 hour"), await step.sleep("short", "2 seconds")];
      await step.sleepUntil("date", subject.clock.now() + 90_000);
      return values;
    });
    const process = subject.start({ sleepy });
    commitSlowly(process);
    const instance = await process.workflows.sleepy.create();
    await untilFarOff(subject, instance);
    await subject.clock.advanceAndSettle(3_600_000);
    await untilStatus(subject.clock, instance, "complete");
    const started = await follow(instance, { filter: ["sleep_started", "sleep_completed"] });

    expect(started.map((event) => [inWords(event), "durationMs" in event ? event.durationMs : null])).toEqual([
      ["sleep_started long", 3_600_000],
      ["sleep_completed long", null],
      ["sleep_started short", 2000],
      ["sleep_completed short", null],
      ["sleep_started date", 90_000],
      ["sleep_completed date", null],
    ]);
    expect(await instance.result()).toEqual([undefined, undefined]);
    const { entries } = await instance.history();
    expect(entries.filter((entry) => "output" in entry || "awaits" in entry)).toEqual([]);
  });

  test("says that a rollback failed because its handler is missing, and for which step", async () => {
    const define = (now: "old" | "new") =>
      defineWorkflow({ name: "order" }, async (_event, step) => {
        await step.do("reserve", () => 1, { rollback: async () => {} });
        await step.do("charge", () => 2, ...(now === "old" ? [{ rollback: async () => {} }] : []));
        await step.sleep("long", "1 day");
      });
    const first = subject.start({ order: define("old") });
    await untilFarOff(subject, await first.workflows.order.create({ id: "one" }));
    await first.close();
    const { workflows } = subject.start({ order: define("new") });
    const instance = await workflows.order.get("one");
    await instance.terminate({ rollback: true });
    await untilStatus(subject.clock, instance, "terminated");
    const events = await follow(instance);
    const rollback = events.slice(events.findIndex(({ type }) => type === "rollback_started"));

    expect(rollback.map(inWords)).toEqual([
      "rollback_started",
      "rollback_step_started charge",
      "rollback_step_errored charge",
      "rollback_errored",
      "workflow_terminated",
    ]);
    const missing = { code: "rollback.missing", message: expect.stringContaining("do:charge") };
    expect(rollback[2]).toMatchObject({ error: missing });
    expect((await instance.status()).rollback).toMatchObject({ outcome: "failed", error: missing });
    expect((await instance.history({ order: "newest", limit: 1 })).entries[0]).toMatchObject({
      kind: "rollbackFailed",
      name: "charge",
      error: missing,
    });
  });

  test("says that a rollback failed that was terminated in its middle", async () => {
    const stuck = defineWorkflow({ name: "stuck" }, async (_event, step) => {
      await step.do("charge", () => 1, { rollback: () => forever() });
      throw new Error("no truck");
    });
    const { workflows } = subject.start({ stuck });
    const instance = await workflows.stuck.create();
    await untilStatus(subject.clock, instance, "rollingBack");
    await instance.terminate();
    const events = await follow(instance);

    expect(events.slice(-3).map(inWords)).toEqual(["rollback_started", "rollback_errored", "workflow_terminated"]);
    expect(await follow(instance, { cursor: events.at(-2)?.eventId as number })).toEqual([events.at(-1)]);
  });

  test("has the code of a step that timed out, in its status, history and events", async () => {
    const slow = defineWorkflow({ name: "slow" }, async (_event, step) => {
      await step.do("work", { timeout: "5 seconds", retries: { limit: 0 } }, () => forever());
    });
    const { workflows } = subject.start({ slow });
    const instance = await workflows.slow.create();
    await withTime(subject.clock, async () => expect((await instance.status()).status).toBe("errored"));
    const timeout = { code: "step.timeout", message: expect.stringContaining("5000 milliseconds") };

    expect(await instance.status()).toMatchObject({ error: timeout });
    expect((await instance.history()).entries.at(-1)).toMatchObject({ kind: "failed", error: timeout });
    const errored = await follow(instance, { filter: ["attempt_errored", "workflow_errored"] });
    expect(errored).toMatchObject([{ error: timeout }, { error: timeout }]);
  });
});

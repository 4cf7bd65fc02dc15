import { afterEach, describe, expect, test, vi } from "vitest";
import { defineWorkflow, NonRetryableError, type WorkflowEvent, type WorkflowInstanceEvent } from "../../src/index.ts";
import { Gate } from "../hooks/support/handlers.ts";
import { ENGINES } from "../support/engines.ts";
import { follow, inWords, stored } from "./support/followed.ts";
import { afterLong } from "./support/lose-process.ts";
import { becomes } from "./support/sample.ts";
import { eventually, useWorkflows, withTime } from "./support/use-workflows.ts";

describe.each(ENGINES)("following an instance on $name", (engine) => {
  const subject = useWorkflows(engine);

  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** Everything that a step can come to. */
  const varied = defineWorkflow({ name: "varied" }, async (_event: WorkflowEvent<{ order: number }>, step) => {
    await step.do("plain", () => ({ sum: 7 }));
    await step.do("shaky", { retries: { limit: 2, delay: 10 } }, ({ attempt }) => {
      if (attempt === 1) throw new RangeError("not yet");
    });
    await step
      .do("refused", () => {
        throw new NonRetryableError("never");
      })
      .catch(() => {});
    await step.do("once", { retries: { limit: 0 } }, () => 1);
    await step.sleep("long", "1 hour");
    await step.waitForEvent("word", { type: "word" });
    await step.waitForEvent("silence", { type: "none", timeout: "1 hour" }).catch(() => {});
    await step.do("plain", () => 2);
    return "done";
  });

  const EXPECTED = [
    "workflow_queued",
    "workflow_started",
    "workflow_running",
    "step_started plain",
    "attempt_started plain 1",
    "attempt_completed plain 1",
    "step_completed plain",
    "step_started shaky",
    "attempt_started shaky 1",
    "attempt_errored shaky 1",
    "attempt_started shaky 2",
    "attempt_completed shaky 2",
    "step_completed shaky",
    "step_started refused",
    "attempt_started refused 1",
    "attempt_errored refused 1",
    "step_errored refused",
    "step_started once",
    "attempt_started once 1",
    "attempt_completed once 1",
    "step_completed once",
    "sleep_started long",
    "sleep_completed long",
    "wait_started word",
    "wait_completed word",
    "wait_started silence",
    "wait_timed_out silence",
    "step_started plain#2",
    "attempt_started plain#2 1",
    "attempt_completed plain#2 1",
    "step_completed plain#2",
    "workflow_completed",
  ];

  async function finished() {
    const process = subject.start({ varied });
    const instance = await process.workflows.varied.create({ id: "one", params: { order: 7 } });
    await instance.sendEvent({ type: "word", payload: 1 });
    await afterLong(subject, instance, "complete");
    return instance;
  }

  test("tells everything that happened, in order, and ends", async () => {
    const instance = await finished();
    const events = await follow(instance);

    expect(events.map(inWords)).toEqual(EXPECTED);
    const ids = events.map(({ eventId }) => eventId);
    expect(ids).toEqual([...ids].sort((left, right) => left - right));
    expect(new Set(ids).size).toBe(ids.length);
    expect(events.every(({ instanceId, run }) => instanceId === "one" && run === 1)).toBe(true);
    const find = (words: string) => events.find((event) => inWords(event) === words);
    expect(find("workflow_started")).toMatchObject({ params: { order: 7 } });
    expect(find("step_completed plain")).toMatchObject({ output: { sum: 7 } });
    expect(find("attempt_errored shaky 1")).toMatchObject({
      retryDelayMs: 10,
      error: { name: "RangeError", message: "not yet" },
    });
    expect(find("attempt_errored refused 1")).not.toHaveProperty("retryDelayMs");
    expect(find("sleep_started long")).toMatchObject({ durationMs: 3_600_000 });
    expect(find("wait_started word")).toMatchObject({ eventType: "word" });
    expect(find("wait_started silence")).toMatchObject({ eventType: "none" });
    expect(find("workflow_completed")).toMatchObject({ output: "done" });
  });

  test("continues after any event, in another process too, with nothing missing and nothing twice", async () => {
    const all = await follow(await finished());
    const other = subject.process({ varied });
    const instance = await other.workflows.varied.get("one");
    for (const [index, { eventId }] of all.entries()) {
      const rest = await follow(instance, { cursor: eventId });
      expect(rest).toEqual(all.slice(index + 1));
    }
    expect(await follow(instance, { cursor: 0 })).toEqual(all);
  });

  test("tells only what is wanted, and ends also if the end isn't", async () => {
    const instance = await finished();
    const events = await follow(instance, { filter: ["sleep_started", "attempt_errored"] });

    expect(events.map(inWords)).toEqual(["attempt_errored shaky 1", "attempt_errored refused 1", "sleep_started long"]);
  });

  test("refuses what it doesn't understand", async () => {
    const instance = await finished();
    for (const cursor of [-1, 1.5, "1", null]) {
      await expect(instance.subscribe({ cursor } as never)).rejects.toMatchObject({ code: "cursor.invalid" });
    }
    await expect(instance.subscribe({ cursor: 2 ** 40 })).rejects.toMatchObject({ code: "cursor.invalid" });
    for (const options of [{ filter: [] }, { filter: ["step"] }, { filter: "step_started" }, { from: 1 }]) {
      await expect(instance.subscribe(options as never)).rejects.toMatchObject({ code: "options.invalid" });
    }
  });

  /** A workflow with steps that wait until they are let go. */
  function gated() {
    const gates = [new Gate(), new Gate(), new Gate()];
    const workflow = defineWorkflow({ name: "gated" }, async (_event, step) => {
      for (const [index, gate] of gates.entries()) await step.do(`step ${index}`, () => gate.opened);
    });
    return { gates, workflow };
  }

  test.each(["the same process", "another process"])("tells what happens as it happens, to %s", async (place) => {
    const { gates, workflow } = gated();
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });
    const reader = place === "another process" ? subject.process({ workflow }) : process;
    const subscription = await (await reader.workflows.workflow.get("one")).subscribe({ filter: ["step_completed"] });
    const events: WorkflowInstanceEvent[] = [];
    const reading = (async () => {
      for await (const event of subscription) events.push(event);
    })();
    for (const [index, gate] of gates.entries()) {
      gate.open();
      await withTime(subject.clock, () => expect(events).toHaveLength(index + 1));
    }
    await instance.result();
    const over = vi.fn();
    void reading.then(over);
    await withTime(subject.clock, () => expect(over).toHaveBeenCalled());
    expect(events.map(inWords)).toEqual([0, 1, 2].map((index) => `step_completed step ${index}`));
  });

  test("asks the database nothing in a process that has the instance, but for what happens", async () => {
    const { gates, workflow } = gated();
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });
    using subscription = await instance.subscribe({ filter: ["step_completed"] });
    const next = subscription.next();
    gates[0]?.open();
    // No time passes: nothing is polled.
    await expect(next).resolves.toMatchObject({ value: { stepName: "step 0" } });
    for (const gate of gates) gate.open();
    await instance.result();
  });

  test("reports that an instance waits or is paused, once", async () => {
    const workflow = defineWorkflow({ name: "waits" }, async (_event, step) => {
      await step.waitForEvent("word", { type: "word", timeout: "1 day" });
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });
    using subscription = await instance.subscribe();
    const until = async (type: string): Promise<WorkflowInstanceEvent[]> => {
      const events: WorkflowInstanceEvent[] = [];
      while (events.at(-1)?.type !== type) events.push((await subscription.next()).value as WorkflowInstanceEvent);
      return events;
    };
    const begun = await until("workflow_waiting");
    expect(begun.map(inWords)).toEqual([...EXPECTED.slice(0, 3), "wait_started word", "workflow_waiting"]);
    await instance.pause();
    const [paused] = await until("workflow_paused");
    await instance.resume();
    await instance.sendEvent({ type: "word" });
    const ended = await until("workflow_completed");
    expect(stored(ended).map(inWords).slice(-2)).toEqual(["wait_completed word", "workflow_completed"]);

    const rest = await follow(instance, { cursor: paused?.eventId as number });
    expect(rest.map(inWords)).toEqual(["wait_completed word", "workflow_completed"]);
  });

  test("continues with the next run after a restart, unless the run had ended", async () => {
    const { gates, workflow } = gated();
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });
    using subscription = await instance.subscribe();
    const next = async () => (await subscription.next()).value as WorkflowInstanceEvent;
    for (const type of EXPECTED.slice(0, 3)) expect(await next()).toMatchObject({ type, run: 1 });
    await becomes(instance, "running");
    await instance.restart();
    for (const type of EXPECTED.slice(0, 3)) expect(await next()).toMatchObject({ type, run: 2 });
    for (const gate of gates) gate.open();
    await instance.result();
    const second = await follow(instance);
    expect(second.at(-1)).toMatchObject({ type: "workflow_completed", run: 2 });

    await instance.restart();
    await eventually(async () => expect(await instance.status()).toMatchObject({ status: "complete", run: 3 }));
    const end = second.at(-1)?.eventId as number;
    const behind = await follow(instance, { cursor: end - 1 });
    expect(behind).toEqual(second.slice(-1)); // an end is an end
    const third = await follow(instance, { cursor: end });
    expect(third).toEqual(await follow(instance));
    expect(third[0]).toMatchObject({ type: "workflow_queued", run: 3 });
    expect((await follow(instance, { cursor: 0 }))[0]).toMatchObject({ type: "workflow_queued", run: 1 });
  });

  test.each(["errored", "terminated"])("ends when the instance is %s", async (status) => {
    const workflow = defineWorkflow({ name: "ends" }, async (_event, step) => {
      if (status === "errored") throw new TypeError("no");
      await step.sleep("long", "1 day");
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });
    const following = follow(instance);
    if (status === "terminated") await instance.terminate();
    const last = (await following).at(-1);

    expect(last?.type).toBe(`workflow_${status}`);
    if (status === "errored") expect(last).toMatchObject({ error: { name: "TypeError", message: "no" } });
  });

  test("is refused when the instance is deleted, and where there is none", async () => {
    const workflow = defineWorkflow({ name: "sleeps" }, async (_event, step) => step.sleep("long", "1 day"));
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });
    const refused = expect(follow(instance)).rejects.toMatchObject({ code: "instance.not_found" });
    await becomes(instance, "waiting");
    await instance.delete();

    await refused;
    await expect(instance.subscribe()).rejects.toMatchObject({ code: "instance.not_found" });
  });

  test("frees everything when it is cancelled, and sends no query while the reader is paused", async () => {
    const workflow = defineWorkflow({ name: "sleeps" }, async (_event, step) => step.sleep("long", "1 day"));
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });
    await becomes(instance, "waiting");
    const reader = subject.process({ workflow });
    const positions = vi.spyOn(reader.store.instances.statements, "positions");
    const subscription = await (await reader.workflows.workflow.get("one")).subscribe();
    await subject.clock.advanceAndSettle(10_000);
    expect(positions).not.toHaveBeenCalled();

    while ((await subscription.next()).value?.type !== "workflow_waiting");
    const waiting = subscription.next();
    await withTime(subject.clock, () => expect(positions).toHaveBeenCalled());
    subscription[Symbol.dispose]();
    await expect(waiting).resolves.toEqual({ done: true, value: undefined });
    await expect(subscription.next()).resolves.toEqual({ done: true, value: undefined });
    positions.mockClear();
    await subject.clock.advanceAndSettle(10_000);
    expect(positions).not.toHaveBeenCalled();
  });

  test("looks for many with one query", async () => {
    const workflow = defineWorkflow({ name: "sleeps" }, async (_event, step) => step.sleep("long", "1 day"));
    const process = subject.start({ workflow });
    const ids = Array.from({ length: 20 }, (_, index) => `one-${index}`);
    for (const id of ids) await becomes(await process.workflows.workflow.create({ id }), "waiting");
    const reader = subject.process({ workflow });
    const positions = vi.spyOn(reader.store.instances.statements, "positions");
    const followed = ids.map(async (id) => follow(await reader.workflows.workflow.get(id)));
    await withTime(subject.clock, () => expect(positions.mock.calls.at(-1)?.[0]).toHaveLength(20));
    for (const id of ids) await (await process.workflows.workflow.get(id)).terminate();
    let ended = 0;
    for (const one of followed) void one.then(() => ended++);
    await withTime(subject.clock, () => expect(ended).toBe(20));
  });

  test("hides what is sensitive from people, and not from the code, in every process", async () => {
    const seen: unknown[] = [];
    const workflow = defineWorkflow({ name: "secret" }, async (_event, step) => {
      const secret = await step.do("secret", { sensitive: "output" }, ({ config }) => ({ key: "hunter2", ...config }));
      const nothing = await step.do("nothing", { sensitive: "output" }, () => {});
      seen.push(secret.key, nothing);
      await step.sleep("long", "1 hour");
      await step.do("open", () => "open");
      return secret.key.length;
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });
    await becomes(instance, "waiting");
    await process.close();
    const next = subject.start({ workflow });
    const again = await next.workflows.workflow.get("one");
    await subject.clock.advanceAndSettle(3_600_000);
    await withTime(subject.clock, async () => expect(await again.status()).toMatchObject({ status: "complete" }));

    expect(seen).toEqual(["hunter2", undefined, "hunter2", undefined]);
    const { entries } = await again.history();
    expect(entries.map(({ output }) => output)).toEqual(["[REDACTED]", "[REDACTED]", undefined, undefined, "open"]);
    const events = await follow(again);
    expect(events.find((event) => inWords(event) === "step_completed secret")).toMatchObject({ output: "[REDACTED]" });
    const shown = JSON.stringify([entries, events, await again.status(), process.logs, next.logs]);
    expect(shown).not.toContain("hunter2");
    expect(await again.result()).toBe(7);
  });
});

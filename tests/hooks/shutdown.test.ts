import { afterEach, describe, expect, test, vi } from "vitest";
import { settle } from "../support/controlled-clock.ts";
import { ENGINES } from "../support/engines.ts";
import { forever, Gate, recordCalls } from "./support/handlers.ts";
import { loseProcess } from "./support/lost-process.ts";
import { eventually, LEASE_MS, useHooks } from "./support/use-hooks.ts";

const DEADLINE_MS = 8000;

describe.each(ENGINES)("shutting down on $name", (engine) => {
  const fixture = useHooks(engine);

  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** A process whose dispatcher is in the middle of a handler. */
  async function running() {
    const gate = new Gate();
    const greet = recordCalls<string>((name) => (name === "slow" ? gate.opened : undefined));
    const process = fixture.process({ greet: greet.definition });
    process.start();
    const { id } = await process.hooks.greet.trigger("slow");
    await eventually(() => expect(greet.payloads).toEqual(["slow"]));
    return { id, gate, greet, process };
  }

  test("waits for running hooks", async () => {
    const { id, gate, greet, process } = await running();
    const stopped = vi.fn();
    const stopping = process.dispatcher.stopPolling({ deadlineMs: DEADLINE_MS }).then(stopped);
    await fixture.clock.advanceAndSettle(DEADLINE_MS - 1);
    expect(stopped).not.toHaveBeenCalled();
    expect(await process.statusOf(id)).toBe("processing");
    gate.open();
    await stopping;

    expect(greet.calls[0]?.hook.signal.aborted).toBe(false);
    expect(await process.statusOf(id)).toBeNull();
  });

  test("aborts hooks that run after the deadline, and releases them without counting the attempt", async () => {
    const { id, greet, process } = await running();
    const stopping = process.dispatcher.stopPolling({ deadlineMs: DEADLINE_MS });
    await fixture.clock.advanceAndSettle(DEADLINE_MS);
    await stopping;

    expect(greet.calls[0]?.hook.signal.reason).toMatchObject({ name: "AttemptAbortedError", code: "attempt.shutdown" });
    const hook = await process.durableHooks.get(id);
    expect(hook).toMatchObject({ status: "pending", attempts: 0, error: null });
    expect(hook?.availableAt).toEqual(new Date(fixture.clock.now()));
    const next = recordCalls<string>();
    const successor = fixture.process({ greet: next.definition });
    await successor.drain();
    expect(next.calls.map(({ hook: { attempts } }) => attempts)).toEqual([1]);
  });

  test("waits for thirty seconds by default", async () => {
    const { greet, process } = await running();
    const stopping = process.dispatcher.stopPolling();
    await process.passTime(29_999);
    expect(greet.calls[0]?.hook.signal.aborted).toBe(false);
    await fixture.clock.advanceAndSettle(1);
    await stopping;

    expect(greet.calls[0]?.hook.signal.aborted).toBe(true);
  });

  test("renews the leases of running hooks", async () => {
    const { id, gate, process } = await running();
    const stopping = process.dispatcher.stopPolling({ deadlineMs: 10 * LEASE_MS });
    await process.passTime(5 * LEASE_MS);
    const other = recordCalls<string>();
    await fixture.process({ greet: other.definition }).drain();
    expect(other.calls).toEqual([]);
    gate.open();
    await stopping;

    expect(await process.statusOf(id)).toBeNull();
  });

  test("ignores the results of released hooks", async () => {
    const { id, gate, process } = await running();
    const stopping = process.dispatcher.stopPolling({ deadlineMs: 0 });
    await fixture.clock.advanceAndSettle(0);
    await stopping;
    gate.open();
    await settle();
    await process.store.hooks.idle();

    expect(await process.statusOf(id)).toBe("pending");
    expect(process.errors).toEqual([]);
  });

  test("keeps the count of earlier attempts", async () => {
    const greet = recordCalls<string>((_, hook) => (hook.attempts === 1 ? Promise.reject("no") : forever()), {
      retries: { delay: 0 },
    });
    const process = fixture.process({ greet: greet.definition });
    process.start();
    const { id } = await process.hooks.greet.trigger("ada");
    await eventually(() => expect(greet.calls).toHaveLength(2));
    const stopping = process.dispatcher.stopPolling({ deadlineMs: 0 });
    await fixture.clock.advanceAndSettle(0);
    await stopping;

    expect(await process.durableHooks.get(id)).toMatchObject({ status: "pending", attempts: 1, error: "no" });
  });

  test("starts nothing new", async () => {
    const { gate, greet, process } = await running();
    const stopping = process.dispatcher.stopPolling({ deadlineMs: DEADLINE_MS });
    const { id } = await process.hooks.greet.trigger("late");
    process.dispatcher.wake();
    gate.open();
    await stopping;

    expect(greet.payloads).toEqual(["slow"]);
    expect(await process.durableHooks.get(id)).toMatchObject({ status: "pending", attempts: 0 });
  });

  test("releases hooks that were claimed while it began, without counting the attempt", async () => {
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition });
    const ids = [
      (await process.hooks.greet.trigger("ada")).id,
      (await process.hooks.greet.trigger("bob", { key: "k" })).id,
    ];
    const { statements } = process.store.hooks;
    const claim = statements.claim.bind(statements);
    let stopping: Promise<void> | undefined;
    vi.spyOn(statements, "claim").mockImplementationOnce(async (request) => {
      const claimed = await claim(request);
      expect(claimed).toHaveLength(2);
      stopping = process.dispatcher.stopPolling({ deadlineMs: DEADLINE_MS });
      return claimed;
    });
    process.start();
    await eventually(() => expect(stopping).toBeDefined());
    await stopping;

    expect(greet.calls).toEqual([]);
    for (const id of ids) expect(await process.durableHooks.get(id)).toMatchObject({ status: "pending", attempts: 0 });
  });

  test("releases hooks that were triggered in this process while it began", async () => {
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition });
    process.start();
    await eventually(async () => {
      await process.hooks.greet.trigger("warm up");
      expect(greet.calls.length).toBeGreaterThan(0);
    });
    const insert = process.store.hooks.insert.bind(process.store.hooks);
    let stopping: Promise<void> | undefined;
    vi.spyOn(process.store.hooks, "insert").mockImplementationOnce(async (triggers) => {
      const inserted = await insert(triggers);
      stopping = process.dispatcher.stopPolling({ deadlineMs: DEADLINE_MS });
      return inserted;
    });
    const { id } = await process.hooks.greet.trigger("ada");
    await stopping;

    expect(greet.payloads).not.toContain("ada");
    expect(await process.durableHooks.get(id)).toMatchObject({ status: "pending", attempts: 0 });
  });

  test("releases a recovered hook as one that still runs alone", async () => {
    const [id] = (await loseProcess(fixture, ["lost"])) as [string];
    await fixture.clock.advanceAndSettle(LEASE_MS);
    const greet = recordCalls<string>(() => forever());
    const process = fixture.process({ greet: greet.definition });
    process.start();
    await eventually(() => expect(greet.calls).toHaveLength(1));
    const stopping = process.dispatcher.stopPolling({ deadlineMs: 0 });
    await fixture.clock.advanceAndSettle(0);
    await stopping;
    expect(await process.durableHooks.get(id)).toMatchObject({ status: "pending", attempts: 1 });

    const gate = new Gate();
    const next = recordCalls<string>((name) => (name === "lost" ? gate.opened : undefined));
    const successor = fixture.process({ greet: next.definition });
    successor.start();
    await eventually(() => expect(next.payloads).toEqual(["lost"]));
    await successor.hooks.greet.trigger("new");
    expect(next.payloads).toEqual(["lost"]);
    expect(next.calls[0]?.hook.attempts).toBe(2);
    gate.open();
    await eventually(() => expect(next.payloads).toEqual(["lost", "new"]));
  });

  test("is over at once when nothing runs, and twice is once", async () => {
    const process = fixture.process({ greet: recordCalls<string>().definition });
    await process.dispatcher.stopPolling();
    process.start();
    await Promise.all([process.dispatcher.stopPolling(), process.dispatcher.stopPolling()]);
    await process.dispatcher.stopPolling();

    expect(fixture.clock.timers).toBe(0);
  });

  test("can be followed by a new start", async () => {
    const { gate, greet, process } = await running();
    gate.open();
    await process.dispatcher.stopPolling();
    await process.hooks.greet.trigger("again");
    expect(greet.payloads).toEqual(["slow"]);
    process.start();

    await eventually(() => expect(greet.payloads).toEqual(["slow", "again"]));
  });

  test("of a drain releases hooks that run after its deadline", async () => {
    const greet = recordCalls<string>(() => forever());
    const process = fixture.process({ greet: greet.definition });
    const { id } = await process.hooks.greet.trigger("ada");
    const drained = process.dispatcher.drain({ deadlineMs: DEADLINE_MS });
    await eventually(() => expect(greet.calls).toHaveLength(1));
    await fixture.clock.advanceAndSettle(DEADLINE_MS);
    await drained;

    expect(greet.calls[0]?.hook.signal.reason).toMatchObject({ code: "attempt.shutdown" });
    expect(await process.durableHooks.get(id)).toMatchObject({ status: "pending", attempts: 0 });
  });
});

import { afterEach, describe, expect, test, vi } from "vitest";
import { StoreError } from "../../src/errors.ts";
import { settle } from "../support/controlled-clock.ts";
import { ENGINES } from "../support/engines.ts";
import { forever, Gate, recordCalls } from "./support/handlers.ts";
import { eventually, LEASE_MS, type TestProcess, useHooks, warmUp } from "./support/use-hooks.ts";

/** A hook is claimed, or it is written as already claimed and started where it was triggered. */
const WAYS = ["claimed", "started where it was triggered"] as const;

describe.each(ENGINES)("leases on $name", (engine) => {
  const fixture = useHooks(engine);

  afterEach(() => {
    vi.restoreAllMocks();
  });

  describe.each(WAYS)("of a hook that was %s", (way) => {
    /** A process with its own time, in the middle of a handler. */
    async function running(end: () => unknown = () => {}) {
      const gate = new Gate();
      const greet = recordCalls<string>(async () => {
        await gate.opened;
        await end();
      });
      const process = fixture.process({ greet: greet.definition }, { clock: fixture.anotherClock() });
      const id = await begin(process, () => greet.calls.length);
      const signal = greet.calls[0]?.hook.signal as AbortSignal;
      return { id, gate, greet, process, signal };
    }

    async function begin(process: Greeter, calls: () => number) {
      if (way !== "claimed") process.start();
      const { id } = await process.hooks.greet.trigger("ada");
      if (way === "claimed") process.drainBehind();
      await eventually(() => expect(calls()).toBe(1));
      return id;
    }

    test("are renewed for as long as the handler runs, so that no other worker claims it", async () => {
      const { id, gate, process, signal } = await running();
      const greet = recordCalls<string>();
      const other = fixture.process({ greet: greet.definition });

      for (let minute = 0; minute < 5; minute++) {
        await process.passTime(60_000);
        fixture.clock.advance(60_000);
        await other.drain();
      }
      expect(signal.aborted).toBe(false);
      gate.open();
      await eventually(async () => expect(await process.statusOf(id)).toBeNull());

      expect(greet.calls).toEqual([]);
      expect(process.logs.lines).toEqual([]);
    });

    test("end when they aren't renewed: another process takes over, and that counts as an attempt", async () => {
      const { id } = await running();
      const greet = recordCalls<string>();
      const other = fixture.process({ greet: greet.definition });

      expect(await other.processor.getNextWakeAt()).toEqual(new Date(fixture.clock.now() + LEASE_MS));
      await fixture.clock.advanceAndSettle(LEASE_MS - 1);
      await other.drain();
      expect(greet.calls).toEqual([]);
      await fixture.clock.advanceAndSettle(1);
      await other.drain();

      expect(greet.calls.map(({ payload, hook }) => [payload, hook.attempts])).toEqual([["ada", 2]]);
      expect(await other.statusOf(id)).toBeNull();
    });

    test.each([
      ["success", () => {}],
      ["failure", () => Promise.reject(new Error("late"))],
    ])("refuse the late %s of a process that has lost them", async (_, end) => {
      const { id, gate, process } = await running(end);
      const again = new Gate();
      const greet = recordCalls<string>(() => again.opened);
      const other = fixture.process({ greet: greet.definition });
      await fixture.clock.advanceAndSettle(LEASE_MS);
      const drained = other.drain();
      await eventually(() => expect(greet.calls).toHaveLength(1));

      gate.open(); // its own clock stood still: it believes that the hook is its own
      const refusal = "The outcome of a hook was not written: its lease had run out and another process has it.";
      await eventually(() => expect(process.logs.messages("warn")).toEqual([refusal]));
      expect(await other.durableHooks.get(id)).toMatchObject({ status: "processing", attempts: 2, error: null });
      again.open();
      await drained;
      expect(await other.statusOf(id)).toBeNull();
    });

    test("tell the handler to stop when the process continues and finds that their time is over", async () => {
      const { id, gate, process, signal } = await running();
      const again = new Gate();
      const greet = recordCalls<string>(() => again.opened);
      const other = fixture.process({ greet: greet.definition });
      await fixture.clock.advanceAndSettle(LEASE_MS);
      const drained = other.drain();
      await eventually(() => expect(greet.calls).toHaveLength(1));

      process.clock.advance(LEASE_MS);
      expect(signal.reason).toMatchObject({ name: "AttemptAbortedError", code: "attempt.lease_lost" });
      gate.open();
      await process.clock.advanceAndSettle(1);
      expect(await other.statusOf(id)).toBe("processing");
      again.open();
      await drained;
      expect(process.logs.messages("warn")).toEqual([]);
    });

    test("tell the handler to stop when a renewal finds that another process has them", async () => {
      const { process, signal } = await running();
      const greet = recordCalls<string>(() => forever());
      const other = fixture.process({ greet: greet.definition });
      await fixture.clock.advanceAndSettle(LEASE_MS);
      other.drainBehind();
      await eventually(() => expect(greet.calls).toHaveLength(1));

      await process.clock.advanceAndSettle(LEASE_MS / 2);
      await eventually(() => expect(signal.reason).toMatchObject({ code: "attempt.lease_lost" }));
    });

    test("tell the handler to stop when the database can't be reached until they are over", async () => {
      const { process, signal } = await running();
      const away = new StoreError("store.unavailable", "away", { transient: true });
      const renew = vi.spyOn(process.store.hooks.statements, "renew").mockRejectedValue(away);

      await process.clock.advanceAndSettle(LEASE_MS - 1);
      expect(signal.aborted).toBe(false);
      expect(renew.mock.calls.length).toBeGreaterThan(1);
      await process.clock.advanceAndSettle(1);
      expect(signal.reason).toMatchObject({ code: "attempt.lease_lost" });
      expect(process.errors).toContainEqual({ error: away, attempt: null });
    });

    test("tell the handler to stop when a renewal gets no answer", async () => {
      const { process, signal } = await running();
      vi.spyOn(process.store.hooks.statements, "renew").mockReturnValue(forever());

      await process.clock.advanceAndSettle(LEASE_MS - 1);
      expect(signal.aborted).toBe(false);
      await process.clock.advanceAndSettle(1);
      expect(signal.reason).toMatchObject({ code: "attempt.lease_lost" });
    });

    test("are kept when a renewal fails and the next one succeeds", async () => {
      const { id, gate, process, signal } = await running();
      const away = new StoreError("store.unavailable", "away", { transient: true });
      vi.spyOn(process.store.hooks.statements, "renew").mockRejectedValueOnce(away);
      await process.passTime(LEASE_MS / 3 + LEASE_MS / 6);
      await process.passTime(3 * LEASE_MS);

      expect(signal.aborted).toBe(false);
      gate.open();
      await eventually(async () => expect(await process.statusOf(id)).toBeNull());
    });
  });

  test("that can have run out before the claim was answered start no handler, and count no attempt", async () => {
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition });
    await process.hooks.greet.trigger("ada");
    const { statements } = process.store.hooks;
    const claim = statements.claim.bind(statements);
    vi.spyOn(statements, "claim").mockImplementationOnce(async (request) => {
      const claimed = await claim(request);
      fixture.clock.advance(LEASE_MS);
      return claimed;
    });
    await process.drain();

    expect(greet.calls.map(({ hook }) => hook.attempts)).toEqual([1]);
  });

  test("that can have run out before the trigger was written start no handler", async () => {
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition });
    process.start();
    await warmUp(process, greet);
    const insert = process.store.hooks.insert.bind(process.store.hooks);
    vi.spyOn(process.store.hooks, "insert").mockImplementationOnce(async (triggers) => {
      const inserted = await insert(triggers);
      fixture.clock.advance(LEASE_MS);
      return inserted;
    });
    await process.hooks.greet.trigger("ada");

    await eventually(() => expect(greet.payloads.at(-1)).toBe("ada"));
    // Given back, unless it was taken over before that.
    expect([1, 2]).toContain(greet.calls.at(-1)?.hook.attempts);
  });

  test("cost nothing for handlers that end soon", async () => {
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition });
    const renew = vi.spyOn(process.store.hooks.statements, "renew");
    process.start();
    for (let round = 0; round < 10; round++) {
      await process.hooks.greet.trigger("ada");
      await eventually(() => expect(greet.calls).toHaveLength(round + 1));
      await settle();
      await process.store.hooks.idle();
      await settle();
      await fixture.clock.advanceAndSettle(LEASE_MS / 3);
    }

    expect(renew).not.toHaveBeenCalled();
  });
});

type Greeter = Pick<
  TestProcess<{ greet: ReturnType<typeof recordCalls<string>>["definition"] }>,
  "hooks" | "start" | "drainBehind"
>;

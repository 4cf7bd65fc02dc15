import { afterEach, describe, expect, test, vi } from "vitest";
import { NonRetryableError } from "../../src/errors.ts";
import type { RetryOptions } from "../../src/queue/retry-policy.ts";
import { systemRandomness } from "../../src/randomness.ts";
import { settle } from "../support/controlled-clock.ts";
import { ENGINES } from "../support/engines.ts";
import { Gate, recordCalls } from "./support/handlers.ts";
import { eventually, type TestProcess, useHooks, withTime } from "./support/use-hooks.ts";

const SECOND = 1000;

function fail(error: unknown = new Error("no")): never {
  throw error;
}

describe.each(ENGINES)("retries on $name", (engine) => {
  const fixture = useHooks(engine);

  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** Runs the one hook of the test's namespace, and gives how long it then waits; null if it doesn't wait. */
  async function attempt(process: TestProcess<never>): Promise<number | null> {
    await process.drain();
    const [hook] = (await process.durableHooks.list()).hooks;
    return hook?.availableAt ? hook.availableAt.getTime() - fixture.clock.now() : null;
  }

  test("tries again when the delay is over, and not before", async () => {
    const greet = recordCalls<string>((_, hook) => hook.attempts === 1 && fail(), {
      retries: { delay: "5 seconds", backoff: "constant" },
    });
    const process = fixture.process({ greet: greet.definition });
    await process.hooks.greet.trigger("ada");

    await process.drain();
    expect(greet.payloads).toEqual(["ada"]);
    await fixture.clock.advanceAndSettle(5 * SECOND - 1);
    await process.drain();
    expect(greet.payloads).toEqual(["ada"]);
    await fixture.clock.advanceAndSettle(1);
    await process.drain();

    expect(greet.payloads).toEqual(["ada", "ada"]);
    expect((await process.durableHooks.list()).hooks).toEqual([]);
  });

  test("is tried again by a running dispatcher when its time comes", async () => {
    const greet = recordCalls<string>((_, hook) => hook.attempts < 3 && fail(), {
      retries: { delay: "5 seconds", backoff: "constant" },
    });
    const process = fixture.process({ greet: greet.definition });
    process.start();
    const { id } = await process.hooks.greet.trigger("ada");

    await withTime(fixture.clock, async () => expect(await process.statusOf(id)).toBeNull());

    expect(greet.calls.map(({ hook }) => hook.attempts)).toEqual([1, 2, 3]);
    const times = greet.calls.map(({ hook }) => hook.processAt.getTime());
    expect(times.map((time, index) => time - (times[index - 1] ?? time))).toEqual([
      0,
      expect.toSatisfy((wait: number) => wait >= 5 * SECOND),
      expect.toSatisfy((wait: number) => wait >= 5 * SECOND),
    ]);
  });

  test("is tried again by the same drain, also if it fails while the drain is looking for more", async () => {
    const gate = new Gate();
    const greet = recordCalls<string>(
      async (_, hook) => {
        if (hook.attempts > 1) return;
        await gate.opened;
        fail();
      },
      { retries: { delay: 0 } },
    );
    const process = fixture.process({ greet: greet.definition });
    const { id } = await process.hooks.greet.trigger("ada");
    const { statements } = process.store.hooks;
    const claim = statements.claim.bind(statements);
    vi.spyOn(statements, "claim")
      .mockImplementationOnce(claim)
      .mockImplementationOnce(async (request) => {
        const claimed = await claim(request);
        gate.open();
        await eventually(async () => expect(await process.statusOf(id)).toBe("pending"));
        await settle();
        return claimed;
      });

    await process.drain();

    expect(greet.calls).toHaveLength(2);
    expect(await process.statusOf(id)).toBeNull();
  });

  test("make the next wake the time of the retry", async () => {
    const greet = recordCalls(() => fail(), { retries: { delay: "5 seconds", backoff: "constant" } });
    const process = fixture.process({ greet: greet.definition });
    await process.hooks.greet.trigger();
    await process.drain();

    expect(await process.processor.getNextWakeAt()).toEqual(new Date(fixture.clock.now() + 5 * SECOND));
  });

  describe("the policy", () => {
    const ofHook: RetryOptions = { limit: 4, delay: "7 seconds", backoff: "constant", maxDelay: "1 minute" };

    test.each<[string, RetryOptions | undefined, number, number]>([
      ["of the hook, if the trigger has none", undefined, 5, 7 * SECOND],
      ["of the trigger instead of the hook's", { limit: 1, delay: 300, backoff: "constant" }, 2, 300],
      ["of the trigger for its limit, of the hook for the rest", { limit: 0 }, 1, 0],
      ["of the trigger for its delay, of the hook for the rest", { delay: "2 minutes" }, 5, 60 * SECOND],
      ["of the trigger for its backoff, of the hook for the rest", { backoff: "linear" }, 5, 7 * SECOND],
      ["of the trigger for its longest delay, of the hook for the rest", { maxDelay: 5 }, 5, 5],
    ])("is that %s", async (_, retries, maxAttempts, delay) => {
      const greet = recordCalls(() => fail(), { retries: ofHook });
      const process = fixture.process({ greet: greet.definition });
      await process.hooks.greet.trigger(undefined, retries === undefined ? {} : { retries });

      const waits = await attempt(process as TestProcess<never>);

      expect(greet.calls[0]?.hook.maxAttempts).toBe(maxAttempts);
      expect(waits).toBe(maxAttempts === 1 ? null : delay);
    });

    test("is twenty attempts over a quarter of an hour by default, with full jitter", async () => {
      vi.spyOn(systemRandomness, "fraction").mockReturnValue(0.5);
      const greet = recordCalls(() => fail());
      const process = fixture.process({ greet: greet.definition });
      await process.hooks.greet.trigger();

      const delays: (number | null)[] = [];
      for (let waits = await attempt(process as TestProcess<never>); waits !== null; ) {
        delays.push(waits);
        await fixture.clock.advanceAndSettle(waits);
        waits = await attempt(process as TestProcess<never>);
      }

      const longest = [1, 2, 4, 8, 16, 32, ...Array.from({ length: 13 }, () => 64)];
      expect(delays).toEqual(longest.map((seconds) => seconds * SECOND * 0.5));
      expect(greet.calls).toHaveLength(20);
      expect(greet.calls.map(({ hook }) => hook.attempts)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
      expect(new Set(greet.calls.map(({ hook }) => hook.maxAttempts))).toEqual(new Set([20]));
      expect((await process.durableHooks.deadLetters()).hooks).toMatchObject([{ attempts: 20, status: "failed" }]);
    });

    test.each<[string, RetryOptions, number[]]>([
      ["constant", { backoff: "constant", delay: 100, limit: 3 }, [100, 100, 100]],
      ["linear", { backoff: "linear", delay: 100, limit: 3 }, [100, 200, 300]],
      ["linear and capped", { backoff: "linear", delay: 100, limit: 3, maxDelay: 150 }, [100, 150, 150]],
      ["exponential", { backoff: "exponential", delay: 100, limit: 3 }, [25, 50, 100]],
      ["exponential and capped", { backoff: "exponential", delay: 100, limit: 3, maxDelay: 160 }, [25, 40, 40]],
      ["without a delay", { delay: 0, limit: 3 }, []],
    ])("spaces attempts: %s", async (_, retries, expected) => {
      vi.spyOn(systemRandomness, "fraction").mockReturnValue(0.25);
      const greet = recordCalls(() => fail(), { retries });
      const process = fixture.process({ greet: greet.definition });
      await process.hooks.greet.trigger();

      const delays: number[] = [];
      for (let waits = await attempt(process as TestProcess<never>); waits !== null; ) {
        delays.push(waits);
        await fixture.clock.advanceAndSettle(waits);
        waits = await attempt(process as TestProcess<never>);
      }

      expect(delays).toEqual(expected);
      expect(greet.calls).toHaveLength(4);
    });
  });

  describe("an error that says when to try again", () => {
    test.each<[string, (now: number) => unknown, number]>([
      ["as a text", () => "90 seconds", 90 * SECOND],
      ["as milliseconds", () => 1500, 1500],
      ["as zero", () => 0, 0],
      ["as a date", (now) => new Date(now + 1234), 1234],
      ["as a date of the past", (now) => new Date(now - 1234), 0],
      ["longer than the longest delay of the policy", () => "3 days", 3 * 86_400 * SECOND],
      ["in a way that we don't understand", () => "soon", 10],
      ["as a date that is none", () => new Date(Number.NaN), 10],
      ["as null", () => null, 10],
      ["as a negative number", () => -5, 10],
    ])("is heard: %s", async (_, retryAfter, expected) => {
      const once = (attempts: number) => attempts === 1;
      const greet = recordCalls(
        (_payload, hook) =>
          once(hook.attempts) &&
          fail(Object.assign(new Error("busy"), { retryAfter: retryAfter(fixture.clock.now()) })),
        { retries: { delay: 10, backoff: "constant", limit: 3 } },
      );
      const process = fixture.process({ greet: greet.definition });
      const { id } = await process.hooks.greet.trigger();
      await process.drain();

      if (expected === 0) {
        expect(greet.calls).toHaveLength(2);
        return;
      }
      const hook = await process.durableHooks.get(id);
      expect(hook?.availableAt).toEqual(new Date(fixture.clock.now() + expected));
      expect(hook).toMatchObject({ status: "pending", attempts: 1 });
    });

    test("doesn't get more attempts than the limit", async () => {
      const greet = recordCalls(() => fail({ retryAfter: 0 }), { retries: { limit: 2 } });
      const process = fixture.process({ greet: greet.definition });
      const { id } = await process.hooks.greet.trigger();
      await process.drain();

      expect(greet.calls).toHaveLength(3);
      expect(await process.statusOf(id)).toBe("failed");
    });

    test.each([
      ["later than any date", Number.MAX_SAFE_INTEGER],
      ["after thousands of years", "200000 years"],
    ])("harms no other hook when it says %s", async (_, retryAfter) => {
      const wait = recordCalls(() => fail({ retryAfter }));
      const greet = recordCalls<string>();
      const process = fixture.process({ wait: wait.definition, greet: greet.definition });
      const { id } = await process.hooks.wait.trigger();
      await process.drain();
      await process.hooks.greet.trigger("ada");
      await process.drain();

      expect(greet.payloads).toEqual(["ada"]);
      expect(await process.processor.getNextWakeAt()).not.toBeNull();
      const hook = await process.durableHooks.get(id);
      expect(hook?.status).toBe("pending");
      expect(hook?.availableAt?.getTime()).toBeGreaterThan(fixture.clock.now() + 365 * 86_400 * SECOND);
    });

    test("can't do harm by throwing when it is asked", async () => {
      const trap = {
        get retryAfter(): never {
          throw new Error("gotcha");
        },
      };
      const greet = recordCalls(() => fail(trap), { retries: { delay: 10, backoff: "constant" } });
      const process = fixture.process({ greet: greet.definition });
      const { id } = await process.hooks.greet.trigger();
      await process.drain();

      const hook = await process.durableHooks.get(id);
      expect(hook).toMatchObject({ status: "pending", attempts: 1 });
      expect(hook?.availableAt).toEqual(new Date(fixture.clock.now() + 10));
    });
  });

  test.each([
    ["NonRetryableError", () => new NonRetryableError("never")],
    ["a class of one's own that extends it", () => new (class Refused extends NonRetryableError {})("never")],
    ["NonRetryableError with retryAfter", () => Object.assign(new NonRetryableError("never"), { retryAfter: 5 })],
  ])("fails at once with %s", async (_, createError) => {
    const greet = recordCalls(() => fail(createError()), { retries: { limit: 5, delay: 0 } });
    const process = fixture.process({ greet: greet.definition });
    const { id } = await process.hooks.greet.trigger();
    await process.drain();

    expect(greet.calls).toHaveLength(1);
    expect(await process.durableHooks.get(id)).toMatchObject({ status: "failed", attempts: 1, availableAt: null });
    expect(process.errors).toMatchObject([{ attempt: { attempt: 1, final: true } }]);
  });

  test.each([
    ["a text", "no"],
    ["undefined", undefined],
    ["null", null],
    ["an object", { reason: "no" }],
  ])("takes %s that was thrown as a failure like any other", async (_, thrown) => {
    const greet = recordCalls(() => Promise.reject(thrown), { retries: { limit: 1, delay: 0 } });
    const process = fixture.process({ greet: greet.definition });
    const { id } = await process.hooks.greet.trigger();
    await process.drain();

    expect(greet.calls).toHaveLength(2);
    const hook = await process.durableHooks.get(id);
    expect(hook).toMatchObject({ status: "failed", attempts: 2 });
    expect(hook?.error).toEqual(thrown);
  });

  test("reports every attempt that failed, and says which was the last", async () => {
    const greet = recordCalls((_, hook) => fail(new Error(`no ${hook.attempts}`)), { retries: { limit: 2, delay: 0 } });
    const process = fixture.process({ greet: greet.definition });
    const { id } = await process.hooks.greet.trigger();
    await process.drain();

    const description = `hook ${fixture.namespace}/greet ${id}`;
    expect(process.errors).toMatchObject([
      { error: { message: "no 1" }, attempt: { description, attempt: 1, final: false } },
      { error: { message: "no 2" }, attempt: { description, attempt: 2, final: false } },
      { error: { message: "no 3" }, attempt: { description, attempt: 3, final: true } },
    ]);
  });

  test("forgets earlier failures when an attempt succeeds", async () => {
    const greet = recordCalls((_, hook) => hook.attempts < 3 && fail(), { retries: { delay: 0 } });
    const process = fixture.process({ greet: greet.definition }, { durableHooks: { keepCompleted: "1 hour" } });
    const { id } = await process.hooks.greet.trigger();
    await process.drain();

    expect(await process.durableHooks.get(id)).toMatchObject({ status: "completed", attempts: 3, error: null });
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InvalidInputError } from "../errors.ts";
import type { Randomness } from "../randomness.ts";
import {
  DEFAULT_RETRIES,
  parseRetries,
  type RetryPolicy,
  requestedDelay,
  resolveRetries,
  retryDelay,
} from "./retry-policy.ts";

const DAY = 86_400_000;

function constantly(fraction: number): Randomness {
  return { fraction: () => fraction, bytes: (length) => new Uint8Array(length) };
}

const fractions = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const attempts = fc.integer({ min: 1, max: 10_001 });
const policies = fc.record<RetryPolicy>({
  limit: fc.integer({ min: 0, max: 10_000 }),
  delay: fc.maxSafeNat(),
  backoff: fc.constantFrom("constant", "linear", "exponential"),
  maxDelay: fc.maxSafeNat(),
});

describe("retryDelay", () => {
  test("is spread from nothing up to the full exponential wait", () => {
    const waits = [0, 0.25, 0.999].map((fraction) => retryDelay(DEFAULT_RETRIES, 4, constantly(fraction)));

    expect(waits).toEqual([0, 2000, 7992]);
  });

  test("is a whole number of milliseconds, never longer than the policy allows or dates reach", () => {
    fc.assert(
      fc.property(policies, attempts, fractions, (policy, attempt, fraction) => {
        const delay = retryDelay(policy, attempt, constantly(fraction));
        expect(Number.isSafeInteger(delay)).toBe(true);
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(delay).toBeLessThanOrEqual(policy.maxDelay);
        expect(new Date(Date.now() + delay).getTime()).not.toBeNaN();
      }),
    );
  });

  test("doesn't overflow after thousands of attempts", () => {
    const policy: RetryPolicy = { limit: 10_000, delay: 1000, backoff: "exponential", maxDelay: 7 * DAY };

    expect(retryDelay(policy, 10_000, constantly(0.5))).toBe(3.5 * DAY);
  });

  test("draws at random only where waits are spread", () => {
    const forbidden: Randomness = {
      fraction: () => expect.unreachable(),
      bytes: () => expect.unreachable(),
    };

    expect(retryDelay({ ...DEFAULT_RETRIES, backoff: "constant" }, 3, forbidden)).toBe(1000);
    expect(retryDelay({ ...DEFAULT_RETRIES, backoff: "linear" }, 3, forbidden)).toBe(3000);
  });
});

describe("requestedDelay", () => {
  test("never is something that can't be waited for", () => {
    const values = fc.oneof(fc.anything(), fc.double(), fc.date({ noInvalidDate: false }));
    fc.assert(
      fc.property(values, (retryAfter) => {
        const delay = requestedDelay({ retryAfter }, Date.now());
        if (delay === null) return;
        expect(Number.isSafeInteger(delay)).toBe(true);
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(new Date(Date.now() + delay).getTime()).not.toBeNaN();
      }),
    );
  });

  test.each([undefined, null, "text", 5, {}, { retryAfter: undefined }])("is none for %j", (error) => {
    expect(requestedDelay(error, 0)).toBeNull();
  });
});

describe("parseRetries", () => {
  test("gives durations in milliseconds, and only what was given", () => {
    expect(parseRetries({ limit: 3, delay: "2 seconds", maxDelay: "1 minute" }, "retries")).toEqual({
      limit: 3,
      delay: 2000,
      maxDelay: 60_000,
    });
    expect(parseRetries({ limit: undefined, backoff: "linear" }, "retries")).toEqual({ backoff: "linear" });
    expect(parseRetries(undefined, "retries")).toEqual({});
  });

  test.each<[unknown, string, string]>([
    [null, "retries.invalid", "retries takes its options as an object; it takes limit, delay, backoff, maxDelay"],
    ["often", "retries.invalid", "retries takes its options as an object; it takes limit, delay, backoff, maxDelay"],
    [3, "retries.invalid", "retries takes its options as an object; it takes limit, delay, backoff, maxDelay"],
    [{ limit: -1 }, "retries.invalid", "retries.limit must be a whole number from 0 to 10000"],
    [{ limit: 1.5 }, "retries.invalid", "retries.limit must be a whole number from 0 to 10000"],
    [{ limit: 10_001 }, "retries.invalid", "retries.limit must be a whole number from 0 to 10000"],
    [{ limit: Number.NaN }, "retries.invalid", "retries.limit must be a whole number from 0 to 10000"],
    [{ limit: "3" }, "retries.invalid", "retries.limit must be a whole number from 0 to 10000"],
    [{ limit: null }, "retries.invalid", "retries.limit must be a whole number from 0 to 10000"],
    [{ backoff: "quadratic" }, "retries.invalid", "retries.backoff must be one of constant, linear, exponential"],
    [{ delay: -1 }, "duration.invalid", "retries.delay is -1"],
    [{ delay: "soon" }, "duration.invalid", 'retries.delay is "soon"'],
    [{ delay: {} }, "duration.invalid", "retries.delay is an object"],
    [{ maxDelay: Number.POSITIVE_INFINITY }, "duration.invalid", "retries.maxDelay is Infinity"],
    [{ attempts: 3 }, "retries.invalid", 'retries has no option "attempts"; it takes limit, delay, backoff, maxDelay'],
  ])("refuses %j", (options, code, message) => {
    let refusal: unknown;
    try {
      parseRetries(options, "retries");
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(InvalidInputError);
    expect(refusal).toMatchObject({ code, message: expect.stringContaining(message) });
  });
});

describe("resolveRetries", () => {
  test("takes each field from the narrowest policy that has it", () => {
    expect(resolveRetries()).toEqual(DEFAULT_RETRIES);
    expect(resolveRetries({ limit: 3, delay: 10 }, { delay: 20, backoff: "linear" })).toEqual({
      ...DEFAULT_RETRIES,
      limit: 3,
      delay: 20,
      backoff: "linear",
    });
  });

  test("doesn't shorten a delay that was asked for, unless a longest one was too", () => {
    expect(resolveRetries({ delay: DAY }).maxDelay).toBe(DAY);
    expect(resolveRetries({ delay: DAY }, { delay: 1000 }).maxDelay).toBe(DEFAULT_RETRIES.maxDelay);
    expect(resolveRetries({ maxDelay: 5000 }, { delay: DAY }).maxDelay).toBe(5000);
  });
});

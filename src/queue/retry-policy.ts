import { type Duration, parseDuration } from "../duration.ts";
import { InvalidInputError } from "../errors.ts";
import { checkOptions } from "../options.ts";
import type { Randomness } from "../randomness.ts";
import { timeOfDate } from "../values/index.ts";

/**
 * How many times, and when, to retry. Missing fields come from the next wider policy: the trigger's, the hook's, the default.
 */
export interface RetryOptions {
  /** The number of retries after the first attempt. */
  readonly limit?: number;
  /** The delay before the first retry. */
  readonly delay?: Duration;
  /** How the delay grows. Exponential delays are randomised, from zero up to the full delay. */
  readonly backoff?: Backoff;
  /** The longest delay. Default: 64 seconds, or `delay` if that is longer. */
  readonly maxDelay?: Duration;
}

export type Backoff = "constant" | "linear" | "exponential";

export interface RetryPolicy {
  readonly limit: number;
  readonly delay: number;
  readonly backoff: Backoff;
  readonly maxDelay: number;
}

export const DEFAULT_RETRIES: RetryPolicy = { limit: 19, delay: 1000, backoff: "exponential", maxDelay: 64_000 };

const BACKOFFS: readonly unknown[] = ["constant", "linear", "exponential"] satisfies Backoff[];
const FIELDS = ["limit", "delay", "backoff", "maxDelay"];
const HIGHEST_LIMIT = 10_000;
/** A century: much longer delays would end after the last possible date. */
const LONGEST_DELAY_MS = 100 * 365 * 86_400_000;

/** Checks a user's policy; durations become milliseconds. */
export function parseRetries(options: unknown, label: string): Partial<RetryPolicy> {
  if (options === undefined) return {};
  checkOptions(options, { label, fields: FIELDS, code: "retries.invalid" });
  const { limit, delay, backoff, maxDelay } = options as Record<keyof RetryPolicy, unknown>;
  const policy: { -readonly [Field in keyof RetryPolicy]?: RetryPolicy[Field] } = {};
  if (limit !== undefined) {
    const accepted = typeof limit === "number" && Number.isInteger(limit) && limit >= 0 && limit <= HIGHEST_LIMIT;
    if (!accepted) throw invalid(`${label}.limit`, `must be a whole number from 0 to ${HIGHEST_LIMIT}`);
    policy.limit = limit;
  }
  if (backoff !== undefined) {
    if (!BACKOFFS.includes(backoff)) throw invalid(`${label}.backoff`, `must be one of ${BACKOFFS.join(", ")}`);
    policy.backoff = backoff as Backoff;
  }
  if (delay !== undefined) policy.delay = parseDuration(delay as Duration, `${label}.delay`);
  if (maxDelay !== undefined) policy.maxDelay = parseDuration(maxDelay as Duration, `${label}.maxDelay`);
  return policy;
}

/** Combines policies; later ones take precedence. */
export function resolveRetries(...policies: Partial<RetryPolicy>[]): RetryPolicy {
  const merged: Partial<RetryPolicy> = Object.assign({}, ...policies);
  const { delay = DEFAULT_RETRIES.delay } = merged;
  const maxDelay = Math.max(DEFAULT_RETRIES.maxDelay, delay); // a longer delay was asked for
  return { ...DEFAULT_RETRIES, maxDelay, ...merged };
}

/** The delay after the nth attempt, counted from 1. */
export function retryDelay(policy: RetryPolicy, attempt: number, randomness: Randomness): number {
  const cap = Math.min(policy.maxDelay, LONGEST_DELAY_MS);
  if (policy.backoff === "constant") return Math.min(policy.delay, cap);
  if (policy.backoff === "linear") return Math.min(policy.delay * attempt, cap);
  const longest = Math.min(policy.delay * 2 ** Math.min(attempt - 1, 60), cap);
  return Math.round(longest * randomness.fraction());
}

/** The delay that an error requests by its `retryAfter`: a duration or a date. Null if it has none that is valid. */
export function requestedDelay(error: unknown, now: number): number | null {
  if (typeof error !== "object" || error === null) return null;
  try {
    const retryAfter: unknown = Reflect.get(error, "retryAfter");
    const date = timeOfDate(retryAfter);
    const delay = date === undefined ? (retryAfter as Duration) : Math.max(date - now, 0);
    return Math.min(parseDuration(delay), LONGEST_DELAY_MS);
  } catch {
    return null;
  }
}

function invalid(label: string, problem: string): InvalidInputError {
  return new InvalidInputError("retries.invalid", `${label} ${problem}.`);
}

import { type Duration, parseDuration } from "../../duration.ts";
import { InvalidInputError } from "../../errors.ts";
import { checkOptions } from "../../options.ts";
import type { LineLimits } from "../../store/lines/line-records.ts";

/** How many of the instances that share a key run at the same time. Sleeping, waiting and paused instances don't count. */
export interface ConcurrencyOptions<Params> {
  readonly limit: number;
  /** Which instances share the limit: those for which it gives the same text. Default: all of the workflow. */
  readonly key?: (params: Params) => string;
}

/** How many of the instances that share a key start in any period of this length. Restarts count; resumed instances don't. */
export interface RateLimitOptions<Params> {
  readonly limit: number;
  readonly period: Duration;
  /** Which instances share the limit: those for which it gives the same text. Default: all of the workflow. */
  readonly key?: (params: Params) => string;
}

/** How many instances of a workflow run at the same time and how many start per period, in all processes together. */
export interface FlowControlOptions<Params> {
  readonly concurrency?: ConcurrencyOptions<Params>;
  readonly rateLimit?: RateLimitOptions<Params>;
}

type KeyFunction = (params: unknown) => unknown;

export interface FlowControl {
  readonly limits: LineLimits;
  /** Null if all instances share the limit. */
  readonly slotKey: KeyFunction | null;
  readonly rateKey: KeyFunction | null;
}

export const NO_LIMITS: LineLimits = { slots: null, starts: null };
const MOST_AT_A_TIME = 1_000_000;
const MOST_STARTS = 100_000;
const LONGEST_PERIOD_MS = 365 * 86_400_000;
const LONGEST_KEY = 200;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches control characters
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f]/;

/** Checks the limits of a workflow. Null without limits. */
export function parseFlowControl(concurrency: unknown, rateLimit: unknown): FlowControl | null {
  if (concurrency === undefined && rateLimit === undefined) return null;
  const slots = parseConcurrency(concurrency);
  const starts = parseRateLimit(rateLimit);
  return {
    limits: { slots: slots?.limit ?? null, starts: starts === null ? null : starts.rate },
    slotKey: slots?.key ?? null,
    rateKey: starts?.key ?? null,
  };
}

function parseConcurrency(options: unknown): { limit: number; key: KeyFunction | null } | null {
  if (options === undefined) return null;
  checkOptions(options, { label: "concurrency", fields: ["limit", "key"], code: "workflow.invalid" });
  const { limit, key } = options as Record<string, unknown>;
  return {
    limit: checkLimit(limit, "The limit of concurrency", MOST_AT_A_TIME),
    key: checkKeyFunction(key, "The key of concurrency"),
  };
}

function parseRateLimit(options: unknown) {
  if (options === undefined) return null;
  checkOptions(options, { label: "rateLimit", fields: ["limit", "period", "key"], code: "workflow.invalid" });
  const { limit, period, key } = options as Record<string, unknown>;
  const periodMs = parseDuration(period as Duration, "The period of rateLimit");
  if (periodMs < 1 || periodMs > LONGEST_PERIOD_MS)
    throw invalid("The period of rateLimit must be from 1 ms to 365 days");
  const rate = { limit: checkLimit(limit, "The limit of rateLimit", MOST_STARTS), periodMs };
  return { rate, key: checkKeyFunction(key, "The key of rateLimit") };
}

function checkLimit(value: unknown, label: string, most: number): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw invalid(`${label} must be a whole number from 1 to ${most}`);
}

function checkKeyFunction(value: unknown, label: string): KeyFunction | null {
  if (value === undefined) return null;
  if (typeof value === "function") return value as KeyFunction;
  throw invalid(`${label} must be a function of the params that gives a text`);
}

/** The lines of an instance: the workflow's name, with the key that its params yield. */
export function flowKeys(
  { limits, slotKey, rateKey }: FlowControl,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  params: unknown,
): { readonly slotKey: string | null; readonly rateKey: string | null } {
  const keyOf = (key: KeyFunction | null, label: string) =>
    `${namespace}/${name}${key === null ? "" : `/${evaluate(key, params, `${label} of "${name}"`)}`}`;
  return {
    slotKey: limits.slots === null ? null : keyOf(slotKey, "The key of concurrency"),
    rateKey: limits.starts === null ? null : keyOf(rateKey, "The key of rateLimit"),
  };
}

function evaluate(key: KeyFunction, params: unknown, label: string): string {
  let value: unknown;
  try {
    value = key(params);
  } catch (error) {
    throw new InvalidInputError("create.invalid", `${label} threw.`, { cause: error });
  }
  if (isKey(value)) return value;
  throw new InvalidInputError(
    "create.invalid",
    `${label} must give a text of 1 to ${LONGEST_KEY} characters without control characters.`,
  );
}

function isKey(value: unknown): value is string {
  if (typeof value !== "string" || value.length === 0 || value.length > LONGEST_KEY) return false;
  return value.isWellFormed() && !CONTROL_CHARACTER.test(value);
}

function invalid(problem: string): InvalidInputError {
  return new InvalidInputError("workflow.invalid", `${problem}.`);
}

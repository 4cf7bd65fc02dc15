import { type Duration, parseDuration } from "../duration.ts";
import { InvalidInputError } from "../errors.ts";
import { checkOptions } from "../options.ts";
import { HOOK_KEYS, type HookLine } from "../store/hooks/hook-lines.ts";
import type { LineLimits } from "../store/lines/line-records.ts";

/**
 * How many of the instances or hooks that share a key run at the same time. Those that sleep, wait or are paused don't count.
 */
export interface ConcurrencyOptions<Params> {
  readonly limit: number;
  /** Which of them share the limit: those for which it gives the same text. Default: all of the workflow or hook. */
  readonly key?: (params: Params) => string;
}

/**
 * How many of the instances or hooks that share a key start in any period of this length. Of an instance, each run counts; of a
 * hook, each attempt.
 */
export interface RateLimitOptions<Params> {
  readonly limit: number;
  readonly period: Duration;
  /** Which of them share the limit: those for which it gives the same text. Default: all of the workflow or hook. */
  readonly key?: (params: Params) => string;
}

/**
 * How many instances of a workflow, or hooks of a name, run at the same time and start per period, in all processes together.
 */
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

type Code = "workflow.invalid" | "hook.invalid";

/** Checks the limits of a workflow or a hook. Null without limits. */
export function parseFlowControl(
  concurrency: unknown,
  rateLimit: unknown,
  code: Code = "workflow.invalid",
): FlowControl | null {
  if (concurrency === undefined && rateLimit === undefined) return null;
  const slots = parseConcurrency(concurrency, code);
  const starts = parseRateLimit(rateLimit, code);
  return {
    limits: { slots: slots?.limit ?? null, starts: starts === null ? null : starts.rate },
    slotKey: slots?.key ?? null,
    rateKey: starts?.key ?? null,
  };
}

function parseConcurrency(options: unknown, code: Code): { limit: number; key: KeyFunction | null } | null {
  if (options === undefined) return null;
  checkOptions(options, { label: "concurrency", fields: ["limit", "key"], code });
  const { limit, key } = options as Record<string, unknown>;
  return {
    limit: checkLimit(limit, "The limit of concurrency", MOST_AT_A_TIME, code),
    key: checkKeyFunction(key, "The key of concurrency", code),
  };
}

function parseRateLimit(options: unknown, code: Code) {
  if (options === undefined) return null;
  checkOptions(options, { label: "rateLimit", fields: ["limit", "period", "key"], code });
  const { limit, period, key } = options as Record<string, unknown>;
  const periodMs = parseDuration(period as Duration, "The period of rateLimit");
  if (periodMs < 1 || periodMs > LONGEST_PERIOD_MS)
    throw invalid(code, "The period of rateLimit must be from 1 ms to 365 days");
  const rate = { limit: checkLimit(limit, "The limit of rateLimit", MOST_STARTS, code), periodMs };
  return { rate, key: checkKeyFunction(key, "The key of rateLimit", code) };
}

function checkLimit(value: unknown, label: string, most: number, code: Code): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw invalid(code, `${label} must be a whole number from 1 to ${most}`);
}

function checkKeyFunction(value: unknown, label: string, code: Code): KeyFunction | null {
  if (value === undefined) return null;
  if (typeof value === "function") return value as KeyFunction;
  throw invalid(code, `${label} must be a function of the params or payload that returns a text`);
}

interface FlowKeys {
  readonly slotKey: string | null;
  readonly rateKey: string | null;
}

/** The lines of an instance: the workflow's name, with the key that its params yield. */
export function flowKeys(
  flow: FlowControl,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  params: unknown,
): FlowKeys {
  return evaluateKeys(flow, `${namespace}/${name}`, name, params, "create.invalid");
}

/** The line of a hook, in which its triggers wait. */
export function hookLine(
  flow: FlowControl,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  payload: unknown,
): HookLine {
  const keys = evaluateKeys(flow, `${HOOK_KEYS.from}${namespace}/${name}`, name, payload, "trigger.invalid");
  return { lineKey: (keys.slotKey ?? keys.rateKey) as string, rateKey: keys.rateKey };
}

function evaluateKeys(
  { limits, slotKey, rateKey }: FlowControl,
  line: string,
  name: string,
  value: unknown,
  code: "create.invalid" | "trigger.invalid",
): FlowKeys {
  const keyOf = (key: KeyFunction | null, label: string) =>
    `${line}${key === null ? "" : `/${evaluate(key, value, `${label} of "${name}"`, code)}`}`;
  return {
    slotKey: limits.slots === null ? null : keyOf(slotKey, "The key of concurrency"),
    rateKey: limits.starts === null ? null : keyOf(rateKey, "The key of rateLimit"),
  };
}

function evaluate(key: KeyFunction, params: unknown, label: string, code: string): string {
  let value: unknown;
  try {
    value = key(params);
  } catch (error) {
    throw new InvalidInputError(code, `${label} threw.`, { cause: error });
  }
  if (isKey(value)) return value;
  throw new InvalidInputError(
    code,
    `${label} must return a text of 1 to ${LONGEST_KEY} characters without control characters.`,
  );
}

function isKey(value: unknown): value is string {
  if (typeof value !== "string" || value.length === 0 || value.length > LONGEST_KEY) return false;
  return value.isWellFormed() && !CONTROL_CHARACTER.test(value);
}

function invalid(code: Code, problem: string): InvalidInputError {
  return new InvalidInputError(code, `${problem}.`);
}

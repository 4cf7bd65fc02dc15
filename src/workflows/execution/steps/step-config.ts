import { parseDuration } from "../../../duration.ts";
import { InvalidInputError } from "../../../errors.ts";
import { checkStepName } from "../../../names.ts";
import { checkOptions } from "../../../options.ts";
import type { Backoff } from "../../../queue/retry-policy.ts";
import type { RetryDelay, WorkflowStepConfig, WorkflowStepContext } from "../../define/step.ts";

/** The config of a step: checked, in milliseconds, with defaults for fields that were left out. */
export interface StepPolicy {
  readonly limit: number;
  readonly delay: number | RetryDelay;
  readonly backoff: Backoff;
  readonly timeoutMs: number;
  readonly aliases: readonly string[];
  /** Whether its progress stays in the history. */
  readonly keepProgress: boolean;
  /** Whether its output is hidden from operators. */
  readonly sensitive: boolean;
}

export const DEFAULT_POLICY: StepPolicy = {
  limit: 5,
  delay: 1000,
  backoff: "exponential",
  timeoutMs: 600_000,
  aliases: [],
  keepProgress: false,
  sensitive: false,
};

const BACKOFFS: readonly unknown[] = ["constant", "linear", "exponential"] satisfies Backoff[];
const HIGHEST_LIMIT = 10_000;
const MOST_ALIASES = 20;
/** As long as a sleep may be. */
const LONGEST_MS = 365.25 * 86_400_000; // "1 year"

export function parseStepConfig(config: WorkflowStepConfig | undefined, maxStepName: number): StepPolicy {
  if (config === undefined) return DEFAULT_POLICY;
  checkOptions(config, {
    label: "A step",
    fields: ["retries", "timeout", "aliases", "sensitive", "progress"],
    code: "step.invalid",
  });
  const { retries = {}, timeout, aliases = [], sensitive, progress } = config;
  checkOptions(retries, { label: "retries", fields: ["limit", "delay", "backoff"], code: "step.invalid" });
  if (!Array.isArray(aliases) || aliases.length > MOST_ALIASES) {
    throw invalid(`aliases must be an array of at most ${MOST_ALIASES} names`);
  }
  if (progress !== undefined && progress !== "keep") throw invalid('progress must be "keep"');
  if (sensitive !== undefined && sensitive !== "output") throw invalid('sensitive must be "output"');
  return {
    limit: parseLimit(retries.limit),
    delay: parseDelay(retries.delay),
    backoff: parseBackoff(retries.backoff),
    timeoutMs: timeout === undefined ? DEFAULT_POLICY.timeoutMs : parseTimeout(timeout),
    aliases: aliases.map((alias) => checkStepName(alias, maxStepName, "An alias")),
    keepProgress: progress !== undefined,
    sensitive: sensitive !== undefined,
  };
}

/** The config as a body sees it. It has no delay where a function chooses it. */
export function describePolicy(policy: StepPolicy): WorkflowStepContext["config"] {
  const { limit, delay, backoff, timeoutMs, sensitive } = policy;
  const retries = typeof delay === "number" ? { limit, delay, backoff } : { limit, backoff };
  return {
    retries: retries as WorkflowStepContext["config"]["retries"],
    timeout: timeoutMs,
    ...(sensitive ? { sensitive: "output" as const } : {}),
  };
}

/** How long to wait after the failed attempt of this number, counted from 1. */
export function backoffDelay(delay: number, backoff: Backoff, attempt: number): number {
  if (backoff === "constant") return delay;
  if (backoff === "linear") return Math.min(delay * attempt, LONGEST_MS);
  return Math.min(delay * 2 ** Math.min(attempt - 1, 60), LONGEST_MS);
}

/** A wait that is no longer than an instance may sleep. */
export function parseWait(value: unknown, label: string): number {
  const milliseconds = parseDuration(value as number | string, label);
  if (milliseconds <= LONGEST_MS) return milliseconds;
  throw new InvalidInputError("duration.invalid", `${label} must be at most 1 year, which is 365.25 days.`);
}

function parseLimit(limit: unknown): number {
  if (limit === undefined) return DEFAULT_POLICY.limit;
  if (limit === Number.POSITIVE_INFINITY) return HIGHEST_LIMIT;
  if (typeof limit === "number" && Number.isInteger(limit) && limit >= 0 && limit <= HIGHEST_LIMIT) return limit;
  throw invalid(`retries.limit must be a whole number from 0 to ${HIGHEST_LIMIT}`);
}

function parseDelay(delay: unknown): number | RetryDelay {
  if (delay === undefined) return DEFAULT_POLICY.delay;
  return typeof delay === "function" ? (delay as RetryDelay) : parseWait(delay, "retries.delay");
}

function parseBackoff(backoff: unknown): Backoff {
  if (backoff === undefined) return DEFAULT_POLICY.backoff;
  if (BACKOFFS.includes(backoff)) return backoff as Backoff;
  throw invalid(`retries.backoff must be one of ${BACKOFFS.join(", ")}`);
}

function parseTimeout(timeout: unknown): number {
  const milliseconds = parseWait(timeout, "timeout");
  if (milliseconds > 0) return milliseconds;
  throw invalid("timeout must be above zero");
}

function invalid(problem: string): InvalidInputError {
  return new InvalidInputError("step.invalid", `${problem}.`);
}

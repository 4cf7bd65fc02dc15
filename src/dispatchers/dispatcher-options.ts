import { InvalidInputError } from "../errors.ts";
import type { Logger } from "../logger.ts";
import { checkOptions } from "../options.ts";
import type { DispatchErrorContext } from "../queue/dispatch-loop.ts";
import type { Capacity } from "../queue/worker-pool.ts";
import { loggedError } from "../values/index.ts";

/** The default `onError`: logs the error. */
export function logDispatchError(
  logger: Logger,
  thrown: unknown,
  { attempt }: DispatchErrorContext,
  stackTraces: boolean,
): void {
  const error = loggedError(thrown, stackTraces);
  if (attempt === null) logger.error("The database could not be used; trying again.", { error });
  else if (attempt.final)
    logger.error(`The ${attempt.description} failed for good.`, { attempt: attempt.attempt, error });
  else logger.warn(`An attempt at the ${attempt.description} failed.`, { attempt: attempt.attempt, error });
}

/** How many hooks and how many workflows a worker runs at a time. One number is meant for each of the two. */
export type ConcurrencyOption = number | { readonly hooks?: number; readonly workflows?: number };

const DEFAULT_CONCURRENCY = 100;
const MOST_CONCURRENCY = 100_000;

/** Hooks and workflows have slots of their own, so that slow ones of one kind don't delay the other. */
export function parseConcurrency(concurrency: ConcurrencyOption = DEFAULT_CONCURRENCY): Capacity {
  if (typeof concurrency !== "object" || concurrency === null) {
    return checkCount("concurrency", concurrency, 1, MOST_CONCURRENCY);
  }
  checkOptions(concurrency, { label: "concurrency", fields: ["hooks", "workflows"] });
  const { hooks = DEFAULT_CONCURRENCY, workflows = DEFAULT_CONCURRENCY } = concurrency;
  return {
    hooks: checkCount("concurrency.hooks", hooks, 1, MOST_CONCURRENCY),
    workflows: checkCount("concurrency.workflows", workflows, 1, MOST_CONCURRENCY),
  };
}

export function checkCount(name: string, value: unknown, least: number, most: number): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return value;
  throw new InvalidInputError("options.invalid", `${name} must be a whole number from ${least} to ${most}.`);
}

export function checkDeadline(
  options: { readonly deadlineMs?: number } = {},
  label: string,
  byDefault: number,
): number {
  checkOptions(options, { label, fields: ["deadlineMs"] });
  const { deadlineMs = byDefault } = options;
  return checkCount("deadlineMs", deadlineMs, 0, 86_400_000);
}

import { InvalidInputError } from "../errors.ts";
import type { Logger } from "../logger.ts";
import { checkOptions } from "../options.ts";
import type { DispatchErrorContext } from "../queue/dispatch-loop.ts";
import { describeError } from "../values/index.ts";

/** The default `onError`: logs the error. */
export function logDispatchError(logger: Logger, error: unknown, { attempt }: DispatchErrorContext): void {
  const { name, message } = describeError(error);
  if (attempt === null) logger.error("The database could not be used; trying again.", { name, message });
  else if (attempt.final)
    logger.error(`The ${attempt.description} failed for good.`, { name, message, attempt: attempt.attempt });
  else logger.warn(`An attempt at the ${attempt.description} failed.`, { name, message, attempt: attempt.attempt });
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

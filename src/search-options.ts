import { InvalidInputError } from "./errors.ts";
import { timeOfDate } from "./values/index.ts";

const LONGEST_TEXT = 1024;

/** Milliseconds; null if the option was left out. */
export function parseTime(value: Date | number | undefined, label: string): number | null {
  if (value === undefined) return null;
  const time = timeOfDate(value) ?? value;
  if (typeof time === "number" && Number.isSafeInteger(Math.round(time))) return Math.round(time);
  throw invalidOption(`${label} must be a Date, or milliseconds since the epoch`);
}

/** A text to look for; null if the option was left out. */
export function parseSearchedText(value: unknown, label: string): string | null {
  if (value === undefined) return null;
  const accepted =
    typeof value === "string" && value.length > 0 && value.length <= LONGEST_TEXT && value.isWellFormed();
  if (accepted && !value.includes("\0")) return value;
  throw invalidOption(`${label} must be a text of 1 to ${LONGEST_TEXT} characters`);
}

export function invalidOption(problem: string): InvalidInputError {
  return new InvalidInputError("options.invalid", `${problem}.`);
}

import { InvalidInputError } from "./errors.ts";
import { timeOfDate } from "./values/index.ts";

const LONGEST_TEXT = 1024;

interface OptionsContract {
  /** The name of the options at the beginning of an error's sentence: "A trigger". */
  readonly label: string;
  readonly fields: readonly string[];
  readonly code?: string;
}

/** Checks that options are an object with no other fields than these, so that a misspelt field isn't ignored. */
export function checkOptions(options: unknown, { label, fields, code = "options.invalid" }: OptionsContract): void {
  const accepted = `it takes ${fields.join(", ")}`;
  if (Object.prototype.toString.call(options) !== "[object Object]") {
    throw new InvalidInputError(code, `${label} takes its options as an object; ${accepted}.`);
  }
  const unknown = Object.keys(options as object).find((field) => !fields.includes(field));
  if (unknown !== undefined)
    throw new InvalidInputError(code, `${label} has no option "${unknown.slice(0, 100)}"; ${accepted}.`);
}

/** A point in time, in milliseconds; null if the option was left out. */
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

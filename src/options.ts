import { InvalidInputError } from "./errors.ts";

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

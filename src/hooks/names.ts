import { InvalidInputError } from "../errors.ts";

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,99}$/;
/** The library's own hooks: their names may contain the name of a workflow. */
const OWN_NAME = /^\$[A-Za-z0-9_][A-Za-z0-9_.:-]{0,299}$/;
const LONGEST_NAME = 100;
const LONGEST_TEXT = 255;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches control characters
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f]/;

/** Checks the name of a namespace or a hook, which appears in code, URLs and logs. */
export function checkName(value: unknown, label: string): string {
  if (typeof value === "string" && NAME.test(value)) return value;
  throw new InvalidInputError(
    "name.invalid",
    `${label} must be 1 to 100 letters, digits and . : _ - and must not start with . : or -; got ${show(value)}.`,
  );
}

/** The same for a stored hook: the library's own names begin with `$`. */
export function checkStoredName(value: unknown, label: string): string {
  if (typeof value === "string" && OWN_NAME.test(value)) return value;
  return checkName(value, label);
}

/** Checks a caller's id or key. */
export function checkText(value: unknown, label: string, longest: number = LONGEST_TEXT): string {
  const accepted =
    typeof value === "string" &&
    value.length > 0 &&
    value.length <= longest &&
    value.isWellFormed() &&
    !CONTROL_CHARACTER.test(value);
  if (accepted) return value;
  throw new InvalidInputError(
    "text.invalid",
    `${label} must be a text of 1 to ${longest} characters without control characters or broken surrogates; got ${show(value)}.`,
  );
}

function show(value: unknown): string {
  if (typeof value !== "string") return value === null ? "null" : `a value of type ${typeof value}`;
  return value.length > 40
    ? `${JSON.stringify(value.slice(0, 40))}… (${value.length} characters)`
    : JSON.stringify(value);
}

/** Checks the id of a hook: a generated id, or its name and the caller's id. */
export function checkHookId(value: unknown): string {
  return checkText(value, "An id", LONGEST_NAME + 1 + LONGEST_TEXT);
}

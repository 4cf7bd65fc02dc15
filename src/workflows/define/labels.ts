import { InvalidInputError } from "../../errors.ts";

/** Texts by which an instance can be found, under names of your choice, such as `{ tenant: "acme" }`. */
export type Labels = Readonly<Record<string, string>>;

const MOST_LABELS = 16;
const LONGEST_KEY = 64;
const LONGEST_VALUE = 256;
const KEY = /^[A-Za-z0-9_][A-Za-z0-9_.:/-]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches control characters
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f]/;

const ACCEPTED =
  `Labels are an object of at most ${MOST_LABELS} texts: keys of 1 to ${LONGEST_KEY} letters, digits and . : / _ -, values of 1 to ` +
  `${LONGEST_VALUE} characters without control characters`;

/** Returns keys and values sorted by key, so that equal labels are equal texts. */
export function parseLabels(labels: unknown, code: string): [key: string, value: string][] {
  if (labels === undefined) return [];
  if (Object.prototype.toString.call(labels) !== "[object Object]") throw invalid(code, "they aren't an object");
  const entries = Object.entries(labels as Record<string, unknown>);
  if (entries.length > MOST_LABELS) throw invalid(code, `there are ${entries.length} of them`);
  return entries.sort(([left], [right]) => (left < right ? -1 : 1)).map(([key, value]) => parseLabel(key, value, code));
}

function parseLabel(key: string, value: unknown, code: string): [key: string, value: string] {
  const shown = JSON.stringify(key.slice(0, LONGEST_KEY));
  if (key.length > LONGEST_KEY || !KEY.test(key)) throw invalid(code, `the key ${shown} isn't one`);
  if (typeof value !== "string") throw invalid(code, `the value of ${shown} is a value of type ${typeof value}`);
  const accepted =
    value.length > 0 && value.length <= LONGEST_VALUE && value.isWellFormed() && !CONTROL_CHARACTER.test(value);
  if (!accepted)
    throw invalid(code, `the value of ${shown} has ${value.length} characters, or some that aren't accepted`);
  return [key, value];
}

function invalid(code: string, problem: string): InvalidInputError {
  return new InvalidInputError(code, `${ACCEPTED}; but ${problem}.`);
}

/**
 * Array literals in PostgreSQL's syntax. The driver can write them too, but it checks the type of every element, which is a
 * good part of the cost of a flush with hundreds of rows. It also can't write nested arrays of different lengths.
 */
export function integerArray(values: readonly (number | null)[]): string {
  return `{${values.map((value) => value ?? "null").join(",")}}`;
}

export function textArray(values: readonly (string | null)[]): string {
  return `{${values.map((value) => (value === null ? "null" : quoted(value))).join(",")}}`;
}

const SPECIAL = /["\\]/;

function quoted(text: string): string {
  if (!SPECIAL.test(text)) return `"${text}"`;
  return `"${text.replace(/\\/g, "\\\\").replace(/"/g, '\\"')}"`;
}

/** One JSON array of JSON values, in which nothing has to be escaped. */
export function jsonArray(values: readonly (string | null)[]): string {
  return `[${values.join(",")}]`;
}

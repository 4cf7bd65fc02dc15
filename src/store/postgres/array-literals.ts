/**
 * Arrays as PostgreSQL reads them. The driver can do that, too, but takes every element for anything that it could be, and
 * that is a good part of what a flush of hundreds of rows costs.
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

/** JSON values as one: nothing has to be escaped. */
export function jsonArray(values: readonly (string | null)[]): string {
  return `[${values.join(",")}]`;
}

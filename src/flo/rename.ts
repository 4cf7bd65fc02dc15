import { InvalidInputError } from "../errors.ts";
import type { SubjectState } from "../subjects/subject-state.ts";
import type { FloSubject } from "./types.ts";

/** Fields that hold times: ISO texts here, dates there. */
const TIMES = ["next_due_at"];

/** `subject_key` becomes `subjectKey`. Only names are changed: what users store in a cursor, a meta or an error stays as it is. */
export function toCamelCase(input: object): Record<string, unknown> {
  const entries = Object.entries(input).map(([name, value]) => [
    name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    TIMES.includes(name) && value !== undefined ? parseTime(value, name) : value,
  ]);
  return Object.fromEntries(entries);
}

export function toFloSubject<Cursor, Meta>(state: SubjectState<Cursor, Meta>): FloSubject<Cursor, Meta> {
  const entries = Object.entries(state).map(([name, value]) => [
    name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    name.endsWith("At") && value instanceof Date ? value.toISOString() : value,
  ]);
  return Object.fromEntries(entries);
}

function parseTime(value: unknown, name: string): Date {
  const date = typeof value === "string" ? new Date(value) : new Date(Number.NaN);
  if (Number.isFinite(date.getTime())) return date;
  throw new InvalidInputError("subject.invalid", `${name} must be a time as an ISO text: 2031-05-06T12:00:00.000Z.`);
}

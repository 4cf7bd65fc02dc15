import { InvalidInputError } from "../errors.ts";
import { checkText } from "../hooks/names.ts";
import { timeOfDate } from "../values/index.ts";

const SHORTEST_LEASE_MS = 1000;
const LONGEST_LEASE_MS = 86_400_000;
const MOST_CLAIMED = 1000;
const LATEST_TIME = 8_640_000_000_000_000;

export function checkSubjectKey(value: unknown): string {
  return checkText(value, "A subjectKey");
}

export function checkLease(value: unknown): number {
  return checkWhole(value, "leaseMs", SHORTEST_LEASE_MS, LONGEST_LEASE_MS);
}

export function checkLimit(value: unknown): number {
  return checkWhole(value, "limit", 1, MOST_CLAIMED);
}

export function checkRevision(value: unknown): number {
  return checkWhole(value, "revision", 1, Number.MAX_SAFE_INTEGER);
}

/** A delay that may be as long as somebody likes, within what a date can hold. */
export function checkDelay(value: unknown, label: string): number {
  return checkWhole(value, label, 0, LATEST_TIME / 2);
}

export function checkWhole(value: unknown, label: string, least: number, most: number): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return value;
  throw invalid(`${label} must be a whole number from ${least} to ${most}`);
}

/** Null if it was left out. */
export function checkTime(value: unknown, label: string): number | null {
  if (value === undefined) return null;
  const time = typeof value === "number" ? value : timeOfDate(value);
  if (time !== undefined && Number.isInteger(time) && Math.abs(time) <= LATEST_TIME) return time;
  throw invalid(`${label} must be a valid Date, or milliseconds since the epoch`);
}

export function checkFlag(value: unknown, label: string): boolean {
  if (value === undefined || typeof value === "boolean") return value === true;
  throw invalid(`${label} must be true or false`);
}

export function invalid(problem: string): InvalidInputError {
  return new InvalidInputError("subject.invalid", `${problem}.`);
}

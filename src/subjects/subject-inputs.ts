import { InvalidInputError } from "../errors.ts";
import { checkText } from "../hooks/names.ts";
import type { SubjectStatus } from "../store/subjects/subject-records.ts";
import { timeOfDate } from "../values/index.ts";

/** A time, as a `Date` or as milliseconds since the epoch. */
export type Time = Date | number;

/**
 * A subject that is there, as its discoverer sees it. A field that is left out keeps its stored value, or has a default for a
 * new subject.
 */
export interface DiscoveredSubject<Cursor = unknown, Meta = unknown> {
  /** Stable, and the same for the same partition: `warehouse:cn-shenzhen`. */
  readonly subjectKey: string;
  /** Where to begin. */
  readonly cursor?: Cursor | null;
  readonly meta?: Meta | null;
  /** Default for new subjects: at once. */
  readonly nextDueAt?: Time;
  /** The tenant, account or the like that it belongs to: claims go round the groups. Null for none. */
  readonly group?: string | null;
}

export interface SyncOptions<Cursor = unknown, Meta = unknown> {
  readonly subjects: readonly DiscoveredSubject<Cursor, Meta>[];
  /** Marks all others of this dispatcher as retired: they are never due until they are discovered again. Default: false. */
  readonly retire?: boolean;
  /** Known subjects keep their cursors and due times, even where these are given. Default: false. */
  readonly keepProgress?: boolean;
}

export interface SyncReport {
  readonly created: number;
  /** Known subjects that were changed. */
  readonly refreshed: number;
  readonly retired: number;
}

export interface ClaimOptions {
  /** 1 to 1000. */
  readonly limit: number;
  /** For how long they are yours, unless you checkpoint: 1 second to 24 hours. */
  readonly leaseMs: number;
}

/** Names a subject at the version that the caller has. */
export interface SubjectReference {
  readonly subjectKey: string;
  readonly revision: number;
}

export interface CheckpointOptions<Cursor = unknown, Meta = unknown> extends SubjectReference {
  /** Left out: it stays. */
  readonly cursor?: Cursor | null;
  readonly meta?: Meta | null;
  /** Extends the lease to so long from now. Left out: it ends when it would have. */
  readonly leaseMs?: number;
}

export interface CompleteOptions<Cursor = unknown, Meta = unknown> extends SubjectReference {
  readonly cursor?: Cursor | null;
  readonly meta?: Meta | null;
  /** Left out: it rests until it is discovered again. */
  readonly nextDueAt?: Time;
}

export interface FailOptions<Cursor = unknown, Meta = unknown> extends SubjectReference {
  /** The failure: an `Error`, or any value that can be stored. */
  readonly error: unknown;
  readonly cursor?: Cursor | null;
  readonly meta?: Meta | null;
  /** When to try again. Not together with `retryAfterMs`; with neither, the retry schedule decides. */
  readonly nextDueAt?: Time;
  readonly retryAfterMs?: number;
}

export interface SubjectListOptions {
  readonly status?: SubjectStatus;
  readonly group?: string;
  /** From an earlier page. */
  readonly cursor?: string;
  /** 1 to 1000. Default: 50. */
  readonly limit?: number;
}

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

/** A delay of any length that a date can hold. */
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

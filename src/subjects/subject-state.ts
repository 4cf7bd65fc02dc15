import type { SubjectRecord, SubjectStatus } from "../store/subject-records.ts";
import { decodeValue } from "../values/index.ts";

/** A subject as it was when it was read or written. */
export interface SubjectState<Cursor = unknown, Meta = unknown> {
  readonly profile: string;
  readonly dispatcherId: string;
  readonly subjectKey: string;
  /** What it shares with others of the same tenant, account or the like; null if it is in no group. */
  readonly group: string | null;
  readonly status: SubjectStatus;
  /** Must be given with every change. Each change moves it, and so do claims and syncs. */
  readonly revision: number;
  /** How far the work has come; null if nobody has said. */
  readonly cursor: Cursor | null;
  readonly meta: Meta | null;
  /** When it is due, by the database's clock; null if it rests until it is discovered again. */
  readonly nextDueAt: Date | null;
  /** The process that has claimed it. */
  readonly leaseOwner: string | null;
  readonly leaseExpiresAt: Date | null;
  /** Claims since the last success, without those that were released. */
  readonly attempts: number;
  readonly consecutiveFailures: number;
  /** Of the last failure since the last success. */
  readonly lastError: unknown;
  readonly lastSuccessAt: Date | null;
  readonly lastFailureAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export function toSubjectState<Cursor, Meta>(record: SubjectRecord): SubjectState<Cursor, Meta> {
  const { profile, dispatcherId, subjectKey, group, status, revision, leaseOwner, attempts, failures } = record;
  return {
    profile,
    dispatcherId,
    subjectKey,
    group,
    status,
    revision,
    cursor: decodeValue(record.cursor) as Cursor | null,
    meta: decodeValue(record.meta) as Meta | null,
    nextDueAt: toDate(record.dueAt),
    leaseOwner,
    leaseExpiresAt: toDate(record.leaseExpiresAt),
    attempts,
    consecutiveFailures: failures,
    lastError: record.error === null ? null : decodeValue(record.error),
    lastSuccessAt: toDate(record.lastSuccessAt),
    lastFailureAt: toDate(record.lastFailureAt),
    createdAt: new Date(record.createdAt),
    updatedAt: new Date(record.updatedAt),
  };
}

function toDate(time: number | null): Date | null {
  return time === null ? null : new Date(time);
}

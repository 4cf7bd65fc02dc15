import type { SubjectRecord, SubjectStatus } from "../store/subjects/subject-records.ts";
import { decodeValue, shownOrUnreadable, type Unreadable } from "../values/index.ts";
import type { Time } from "./subject-inputs.ts";

/** A subject as it was when it was read or written. */
export interface SubjectState<Cursor = unknown, Meta = unknown> {
  readonly profile: string;
  readonly dispatcherId: string;
  readonly subjectKey: string;
  /** The tenant, account or the like that it shares with other subjects; null if it is in no group. */
  readonly group: string | null;
  readonly status: SubjectStatus;
  /** Must be given with every change. Each change moves it, and so do claims and syncs. */
  readonly revision: number;
  /** How far the work has come; null if no cursor was given. */
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
  /** Leases that have run out in a row: their owners were lost, or too slow. */
  readonly consecutiveTimeouts: number;
  /** Of the last failure since the last success. */
  readonly lastError: unknown;
  /** When it was last claimed. */
  readonly lastStartedAt: Date | null;
  readonly lastSuccessAt: Date | null;
  readonly lastFailureAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A subject in a list. */
export interface ListedSubject<Cursor = unknown, Meta = unknown> extends SubjectState<Cursor, Meta> {
  /** Why its cursor, meta and last error can't be read. Then they are null here. */
  readonly unreadable?: Unreadable;
}

/** One subject that can't be read spoils no list. */
export function toListedSubject<Cursor, Meta>(record: SubjectRecord): ListedSubject<Cursor, Meta> {
  const unread = { ...record, cursor: "null", meta: "null", error: null };
  return {
    ...toSubjectState<Cursor, Meta>(unread),
    ...shownOrUnreadable(() => {
      const { cursor, meta, lastError } = toSubjectState<Cursor, Meta>(record);
      return { cursor, meta, lastError };
    }),
  };
}

/** Throws where the cursor or meta can't be read. */
export function toSubjectState<Cursor, Meta>(record: SubjectRecord): SubjectState<Cursor, Meta> {
  const { profile, dispatcherId, subjectKey, group, status, revision, leaseOwner, attempts, failures, timeouts } =
    record;
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
    consecutiveTimeouts: timeouts,
    lastError: readError(record.error),
    lastStartedAt: toDate(record.lastStartedAt),
    lastSuccessAt: toDate(record.lastSuccessAt),
    lastFailureAt: toDate(record.lastFailureAt),
    createdAt: new Date(record.createdAt),
    updatedAt: new Date(record.updatedAt),
  };
}

/** An error that can't be read is no reason to refuse the subject: it is shown as what prevents reading it. */
function readError(error: string | null): unknown {
  if (error === null) return null;
  const read = shownOrUnreadable(() => ({ value: decodeValue(error) }));
  return "value" in read ? read.value : read.unreadable;
}

function toDate(time: number | null): Date | null {
  return time === null ? null : new Date(time);
}

/** The second argument of a handler. */
export interface SubjectContext<Cursor = unknown, Meta = unknown> {
  /**
   * Stores how far the work has come, and extends the lease: after a crash, the next owner resumes from here. Rejects with
   * `RevisionConflictError` if the subject has another owner.
   */
  checkpoint(cursor: Cursor, meta?: Meta): Promise<void>;
  /** Aborted when the lease is lost, and when the run is to end. */
  readonly signal: AbortSignal;
}

/** The result of a handler. Missing fields stay as they are. */
export interface SubjectResult<Cursor = unknown, Meta = unknown> {
  readonly cursor?: Cursor | null;
  readonly meta?: Meta | null;
  /** Default: after `every`; without one, when it is discovered again. */
  readonly nextDueAt?: Time;
}

/**
 * Does the work of one subject. When it returns, the subject is completed; when it throws, it has failed, and is tried again by
 * the retry schedule, or when the error's `retryAfter` says.
 */
export type HandleSubject<Cursor = unknown, Meta = unknown> = (
  subject: SubjectState<Cursor, Meta>,
  context: SubjectContext<Cursor, Meta>,
) => Returned<SubjectResult<Cursor, Meta>> | Promise<Returned<SubjectResult<Cursor, Meta>>>;

// biome-ignore lint/suspicious/noConfusingVoidType: a handler that has nothing to say returns nothing
type Returned<Result> = Result | undefined | void;

/** `lost`: the subject has another owner, or may soon have one, and nothing was written. */
export type SubjectOutcome = "completed" | "failed" | "released" | "lost";

/** Something has happened to a subject of a run. */
export interface SubjectProgress<Cursor = unknown, Meta = unknown> {
  readonly event: "claimed" | "checkpointed" | SubjectOutcome;
  /** As it is after that. */
  readonly subject: SubjectState<Cursor, Meta>;
  /** Of a failure, or of what kept an outcome from being written. */
  readonly error?: unknown;
}

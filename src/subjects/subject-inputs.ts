import type { SubjectStatus } from "../store/subjects/subject-records.ts";

/** A time, as a `Date` or as milliseconds since the epoch. */
export type Time = Date | number;

/** A subject that is there, as its discoverer sees it. What is left out keeps its stored value, or gets a default if it is new. */
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
  /** What went wrong: an `Error`, or any value that can be stored. */
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

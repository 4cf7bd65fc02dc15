/** All subjects of one dispatcher. Profiles keep dispatchers of the same id apart. */
export interface SubjectScope {
  readonly profile: string;
  readonly dispatcherId: string;
}

export interface SubjectName extends SubjectScope {
  readonly subjectKey: string;
}

/** A subject at one version of it. The revision alone fences: a change based on an older one is refused. */
export interface SubjectVersion extends SubjectName {
  readonly revision: number;
}

/**
 * - `idle`: it has no owner. It is due at its due time; without one it rests until it is discovered again.
 * - `failed`: the same, after an attempt that failed.
 * - `leased`: claimed.
 * - `running`: claimed, and it has made progress.
 * - `retired`: not discovered any more, and never due.
 */
export type SubjectStatus = "idle" | "failed" | "leased" | "running" | "retired";

/** A subject as it is stored. Values are encoded. */
export interface SubjectRecord extends SubjectVersion {
  readonly group: string | null;
  readonly status: SubjectStatus;
  readonly cursor: string;
  readonly meta: string;
  /** When it is or was due: for an active one, the time that made it due. */
  readonly dueAt: number | null;
  readonly leaseOwner: string | null;
  readonly leaseExpiresAt: number | null;
  /** Claims since the last success, without those that were released. */
  readonly attempts: number;
  /** Failures since the last success. */
  readonly failures: number;
  /** Leases that have run out since an owner last said how it ended. */
  readonly timeouts: number;
  readonly error: string | null;
  /** When it was last claimed. */
  readonly lastStartedAt: number | null;
  readonly lastSuccessAt: number | null;
  readonly lastFailureAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/**
 * A discovered subject. Fields that weren't given are null: a new subject gets defaults for them, a known one keeps its own.
 */
export interface SubjectSync {
  readonly subjectKey: string;
  /** An empty text takes a subject out of its group. */
  readonly group: string | null;
  readonly cursor: string | null;
  readonly meta: string | null;
  readonly dueAt: number | null;
}

export interface SyncBatch extends SubjectScope {
  /** Each key once. */
  readonly subjects: readonly SubjectSync[];
  /** Whether known subjects keep their cursors and due times, even where these were given. */
  readonly keepProgress: boolean;
}

export interface SyncCounts {
  readonly created: number;
  /** Known ones that were changed. */
  readonly refreshed: number;
}

export interface SubjectClaim extends SubjectScope {
  readonly limit: number;
  readonly leaseMs: number;
  readonly owner: string;
  /** Only what was due by this time; null for what is due now. */
  readonly dueBy: number | null;
  /** Null takes the oldest. Else up to `limit` are taken group by group first. */
  readonly fair: FairShare | null;
}

export interface FairShare {
  readonly limit: number;
  /** The group that the last round ended with. */
  readonly after: string;
  /** How many groups to look at, at most. */
  readonly groups: number;
}

export interface ClaimedSubjects {
  /** The oldest first. */
  readonly subjects: readonly SubjectRecord[];
  /** The group that the round ended with; null if there was none. */
  readonly lastGroup: string | null;
}

export type SubjectChangeKind = "checkpoint" | "complete" | "fail" | "release";

/** An owner's change of its subject, in one conditional update. */
export interface SubjectChange extends SubjectVersion {
  /** Made for this change, so that it is recognised when it is sent again. */
  readonly changeId: string;
  readonly kind: SubjectChangeKind;
  /** Null keeps what is stored. */
  readonly cursor: string | null;
  readonly meta: string | null;
  /** Of `complete` and `fail`: when it is due next, as a time or from now on. Neither: it rests. */
  readonly dueAt: number | null;
  readonly delayMs: number | null;
  /** Of `checkpoint`: how long the lease lasts from now on. Null leaves its end as it is. */
  readonly leaseMs: number | null;
  /** Of `fail`. */
  readonly error: string | null;
}

/**
 * - `changed`: written now, or before, by this very change whose reply was lost.
 * - `stale`: it was changed since, and nothing was written. `subject` is its present state.
 * - `inactive`: it has no owner, and nothing was written.
 * - `missing`: there is no such subject.
 */
export type SubjectChangeResult =
  | { readonly result: "changed" | "stale" | "inactive"; readonly subject: SubjectRecord }
  | { readonly result: "missing" };

export interface SubjectFilter extends SubjectScope {
  readonly status: SubjectStatus | null;
  readonly group: string | null;
  /** Only keys behind this one. */
  readonly after: string | null;
  readonly limit: number;
}

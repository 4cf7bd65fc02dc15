import type { SubjectStatus } from "../store/subject-records.ts";

/** A subject as the runtime gives it: names with underscores, times as ISO texts. */
export interface FloSubject<Cursor = unknown, Meta = unknown> {
  readonly profile: string;
  readonly dispatcher_id: string;
  readonly subject_key: string;
  readonly group: string | null;
  readonly status: SubjectStatus;
  readonly revision: number;
  readonly cursor: Cursor | null;
  readonly meta: Meta | null;
  readonly next_due_at: string | null;
  readonly lease_owner: string | null;
  readonly lease_expires_at: string | null;
  readonly attempts: number;
  readonly consecutive_failures: number;
  readonly last_error: unknown;
  readonly last_success_at: string | null;
  readonly last_failure_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface FloDiscoveredSubject<Cursor = unknown, Meta = unknown> {
  readonly subject_key: string;
  readonly cursor?: Cursor | null;
  readonly meta?: Meta | null;
  readonly next_due_at?: string;
  readonly group?: string | null;
}

export interface FloSync<Cursor = unknown, Meta = unknown> {
  readonly dispatcher_id: string;
  readonly subjects: readonly FloDiscoveredSubject<Cursor, Meta>[];
  readonly retire?: boolean;
  readonly keep_progress?: boolean;
}

export interface FloClaim {
  readonly dispatcher_id: string;
  readonly limit: number;
  readonly lease_ms: number;
}

export interface FloReference {
  readonly dispatcher_id: string;
  readonly subject_key: string;
  readonly revision: number;
}

export interface FloProgress<Cursor = unknown, Meta = unknown> extends FloReference {
  readonly cursor?: Cursor | null;
  readonly meta?: Meta | null;
}

export interface FloCheckpoint<Cursor = unknown, Meta = unknown> extends FloProgress<Cursor, Meta> {
  readonly lease_ms?: number;
}

export interface FloCompletion<Cursor = unknown, Meta = unknown> extends FloProgress<Cursor, Meta> {
  readonly next_due_at?: string;
}

export interface FloFailure<Cursor = unknown, Meta = unknown> extends FloProgress<Cursor, Meta> {
  readonly error: unknown;
  readonly next_due_at?: string;
  readonly retry_after_ms?: number;
}

export interface FloDispatcher {
  /** Creates missing subjects, and refreshes known ones that nobody has claimed. */
  syncSubjects<Cursor = unknown, Meta = unknown>(
    sync: FloSync<Cursor, Meta>,
  ): Promise<{ readonly created: number; readonly refreshed: number; readonly retired: number }>;
  /** Claims subjects that are due, and those whose lease has run out. */
  claimDueSubjects<Cursor = unknown, Meta = unknown>(
    claim: FloClaim,
  ): Promise<{ readonly subjects: FloSubject<Cursor, Meta>[] }>;
  /** Stores progress, marks the subject as running, and extends its lease if `lease_ms` is given. */
  checkpointSubject<Cursor = unknown, Meta = unknown>(
    checkpoint: FloCheckpoint<Cursor, Meta>,
  ): Promise<FloSubject<Cursor, Meta>>;
  completeSubject<Cursor = unknown, Meta = unknown>(
    completion: FloCompletion<Cursor, Meta>,
  ): Promise<FloSubject<Cursor, Meta>>;
  /** Takes `next_due_at` or `retry_after_ms`, not both; with neither, the retry schedule decides. */
  failSubject<Cursor = unknown, Meta = unknown>(failure: FloFailure<Cursor, Meta>): Promise<FloSubject<Cursor, Meta>>;
  /** Gives a subject back: neither a success nor a failure. */
  releaseSubject<Cursor = unknown, Meta = unknown>(reference: FloReference): Promise<FloSubject<Cursor, Meta>>;
}

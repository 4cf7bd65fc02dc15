/** Anything that JSON has. */
export type FloJson = string | number | boolean | null | readonly FloJson[] | { readonly [key: string]: FloJson };

/**
 * - `idle`: due at `next_due_at`, or at rest without one.
 * - `leased`: claimed. `running`: claimed, and it has made a checkpoint.
 * - `succeeded`, `failed`: how its last attempt ended. It is due again at `next_due_at`.
 */
export type FloStatus = "idle" | "leased" | "running" | "succeeded" | "failed";

export interface FloError {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly continuable: boolean;
}

/** An error as scripts give it. Default: `retryable` and `continuable`. */
export type FloGivenError = Pick<FloError, "code" | "message"> & {
  readonly retryable?: boolean | undefined;
  readonly continuable?: boolean | undefined;
};

/** A subject as the runtime gives it: times are ISO texts, and a field without a value is absent. */
export interface FloSubject<Cursor = FloJson, Meta = FloJson> {
  readonly dispatcher_id: string;
  readonly subject_key: string;
  readonly status: FloStatus;
  readonly cursor?: Cursor;
  readonly meta?: Meta;
  readonly next_due_at?: string;
  readonly lease_owner_id?: string;
  readonly lease_expires_at?: string;
  /** Claims since the last success, without those that were released. */
  readonly attempt: number;
  /** Failures since the last success. */
  readonly failure_count: number;
  /** Leases that have run out in a row. */
  readonly consecutive_timeouts: number;
  readonly last_error?: FloError;
  /** When it was last claimed. */
  readonly last_started_at?: string;
  /** When it was last completed, or failed. */
  readonly last_finished_at?: string;
  readonly last_success_at?: string;
  /** Must be sent with every change. */
  readonly revision: number;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface FloDispatcherState {
  readonly dispatcher_id: string;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface FloDiscoveredSubject<Cursor = FloJson, Meta = FloJson> {
  readonly subject_key: string;
  readonly cursor?: Cursor | undefined;
  readonly meta?: Meta | undefined;
  readonly next_due_at?: string | undefined;
}

export interface FloSync<Cursor = FloJson, Meta = FloJson> {
  readonly dispatcher_id: string;
  readonly subjects: readonly FloDiscoveredSubject<Cursor, Meta>[];
}

export interface FloSynced<Cursor = FloJson, Meta = FloJson> {
  readonly dispatcher: FloDispatcherState;
  /** The given subjects, in the same order, as they are now. */
  readonly subjects: FloSubject<Cursor, Meta>[];
}

export interface FloClaim {
  readonly dispatcher_id: string;
  readonly lease_ms: number;
  /** 1 to 1000. Default: 10. */
  readonly limit?: number | undefined;
}

export interface FloReference {
  readonly dispatcher_id: string;
  readonly subject_key: string;
  readonly revision: number;
}

export interface FloProgress<Cursor = FloJson, Meta = FloJson> extends FloReference {
  /** Left out: it stays. */
  readonly cursor?: Cursor | undefined;
  readonly meta?: Meta | undefined;
}

export interface FloCheckpoint<Cursor = FloJson, Meta = FloJson> extends FloProgress<Cursor, Meta> {
  readonly lease_ms?: number | undefined;
}

export interface FloCompletion<Cursor = FloJson, Meta = FloJson> extends FloProgress<Cursor, Meta> {
  readonly next_due_at?: string | undefined;
}

export interface FloFailure<Cursor = FloJson, Meta = FloJson> extends FloProgress<Cursor, Meta> {
  readonly error: FloGivenError;
  readonly next_due_at?: string | undefined;
  readonly retry_after_ms?: number | undefined;
}

export interface FloDispatcher {
  /** Creates missing subjects, and refreshes known ones that aren't leased or running. */
  syncSubjects<Cursor = FloJson, Meta = FloJson>(sync: FloSync<Cursor, Meta>): Promise<FloSynced<Cursor, Meta>>;
  /** Claims subjects that are due, and those whose lease has run out. */
  claimDueSubjects<Cursor = FloJson, Meta = FloJson>(
    claim: FloClaim,
  ): Promise<{ readonly subjects: FloSubject<Cursor, Meta>[] }>;
  /** Stores progress, marks the subject as running, and extends its lease if `lease_ms` is given. */
  checkpointSubject<Cursor = FloJson, Meta = FloJson>(
    checkpoint: FloCheckpoint<Cursor, Meta>,
  ): Promise<FloSubject<Cursor, Meta>>;
  completeSubject<Cursor = FloJson, Meta = FloJson>(
    completion: FloCompletion<Cursor, Meta>,
  ): Promise<FloSubject<Cursor, Meta>>;
  /** Takes `next_due_at` or `retry_after_ms`, not both; with neither, the retry schedule decides. */
  failSubject<Cursor = FloJson, Meta = FloJson>(failure: FloFailure<Cursor, Meta>): Promise<FloSubject<Cursor, Meta>>;
  /** Gives a subject back: neither a success nor a failure. */
  releaseSubject(reference: FloReference): Promise<FloSubject>;
}

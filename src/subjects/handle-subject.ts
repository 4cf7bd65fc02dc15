import type { Time } from "./subject-inputs.ts";
import type { SubjectState } from "./subject-state.ts";

/** What a handler has besides its subject. */
export interface SubjectContext<Cursor = unknown, Meta = unknown> {
  /**
   * Stores how far it has come, and extends the lease: whoever goes on after a crash goes on from here. Rejects with
   * `RevisionConflictError` if somebody else has the subject by now.
   */
  checkpoint(cursor: Cursor, meta?: Meta): Promise<void>;
  /** Aborted when the lease is lost, and when the run is to end. */
  readonly signal: AbortSignal;
}

/** What a handler may say when it is done. What is left out stays as it is. */
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

/** `lost`: somebody else has the subject by now, or may have it soon, and nothing was written. */
export type SubjectOutcome = "completed" | "failed" | "released" | "lost";

/** Something has happened to a subject of a run. */
export interface SubjectProgress<Cursor = unknown, Meta = unknown> {
  readonly event: "claimed" | "checkpointed" | SubjectOutcome;
  /** As it is after that. */
  readonly subject: SubjectState<Cursor, Meta>;
  /** Of a failure, or of what kept an outcome from being written. */
  readonly error?: unknown;
}

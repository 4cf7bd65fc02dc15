/**
 * One tree of errors. Every error that Perdure throws on purpose has a stable `code`; a message may change, a code may not.
 */
export class PerdureError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** An argument is not accepted. Nothing was stored. */
export class InvalidInputError extends PerdureError {}

/** The requested row doesn't exist. */
export class NotFoundError extends PerdureError {
  /** A sentence, where the message is only the code: programs for Cloudflare compare the message of a missing instance. */
  readonly details?: string;

  constructor(code: string, message: string, options?: ErrorOptions & { details?: string }) {
    super(code, message, options);
    if (options?.details !== undefined) this.details = options.details;
  }
}

/** Its message is its code, as in Cloudflare Workflows, because existing code compares it. */
export function instanceNotFound(workflow: string, id: string): NotFoundError {
  const details = `The workflow "${workflow}" has no instance "${id}".`;
  return new NotFoundError("instance.not_found", "instance.not_found", { details });
}

export function hookNotFound(): NotFoundError {
  return new NotFoundError("hook.not_found", "There is no hook with this id; it may have been completed.");
}

export function invalidToken(): NotFoundError {
  return new NotFoundError("token.invalid", "This isn't a token of this application.");
}

/** The request contradicts the stored state. Nothing was changed. */
export class ConflictError extends PerdureError {}

/** A subject was changed since the caller read it, so nothing was written. `current` is its present state. */
export class RevisionConflictError<State = unknown> extends ConflictError {
  readonly current: State;

  constructor(subjectKey: string, revisions: { given: number; current: number }, current: State) {
    super(
      "subject.revision_conflict",
      `The subject "${subjectKey}" is at revision ${revisions.current}, and ${revisions.given} was given: another owner has it, or has ` +
        `changed it. Nothing was written. Stop working on it, or claim it again.`,
    );
    this.current = current;
  }
}

/** The database's schema isn't the one that this version of Perdure needs. */
export class SchemaError extends PerdureError {}

/**
 * The database failed: not the caller's fault, and never a reason to fail the caller's work. `transient` says that the same
 * request may succeed later; a request with its own ids may be sent again.
 */
export class StoreError extends PerdureError {
  readonly transient: boolean;

  constructor(code: string, message: string, options: ErrorOptions & { transient: boolean }) {
    super(code, message, options);
    this.transient = options.transient;
  }
}

/**
 * The codec can't decode a stored value, or can't encode a new one: a key is missing, the stored data was changed, or the codec
 * itself failed. Work that needs the value is tried again later, and never fails because of it.
 */
export class CodecError extends StoreError {
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(code, message, { ...options, transient: false });
  }
}

/**
 * A stored value can't be read: a newer version of Perdure has written it, it was cut short, or it was changed by hand.
 * The work that needs it waits for code that can read it, as for a value that the codec can't decode.
 */
export class UnreadableValueError extends CodecError {}

/**
 * The code of a workflow calls a new step where the history has others that it hasn't called: a step was renamed, removed,
 * moved or inserted. The steps are named as in `do:charge#2`.
 */
export class WorkflowDivergedError extends PerdureError {
  readonly expected: string;
  readonly called: string;

  constructor(expected: string, called: string) {
    super(
      "workflow.diverged",
      `The code calls ${called} where the history of the instance has ${expected}. If the step was renamed, give it an alias; ` +
        "otherwise run the instance with the code that it began with.",
    );
    this.expected = expected;
    this.called = called;
  }
}

/** The database can never store a value: its encoding lacks a character, or the value is too large. Trying again won't help. */
export class ValueRefusedError extends StoreError {
  constructor(message: string, options?: ErrorOptions) {
    super("store.rejected", message, { ...options, transient: false });
  }
}

/** The reply to a COMMIT was lost: only the database knows whether the transaction took effect. */
export class CommitOutcomeUnknownError extends StoreError {
  constructor(options?: ErrorOptions) {
    super(
      "transaction.outcome_unknown",
      "The connection was lost while the transaction was being committed: it may or may not have taken effect. " +
        "Read the data that it would have written before doing it again.",
      { ...options, transient: false },
    );
  }
}

/** Whether the database may have executed the request, or may still do so: its answer is missing. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof CommitOutcomeUnknownError || (error instanceof StoreError && error.transient);
}

/** Whether the database failed rather than the request: the same request may succeed later. */
export function isInfrastructure(error: unknown): boolean {
  return error instanceof StoreError && !(error instanceof ValueRefusedError || error instanceof CodecError);
}

/** Whether a request was made to a database that this process has closed. */
export function isStoreClosed(error: unknown): boolean {
  return error instanceof PerdureError && error.code === "store.closed";
}

/** Thrown by a handler to say that another attempt would fail the same way. */
export class NonRetryableError extends PerdureError {
  constructor(message: string, name?: string) {
    super("error.non_retryable", message);
    if (name !== undefined) this.name = name;
  }
}

/** A step was called inside another, where it isn't allowed: a sleep, or a wait for an event. */
export class WaitInsideStepError extends NonRetryableError {
  override readonly code: string = "step.wait_inside_step";
}

/** A step was called inside another step's transaction. */
export class StepInTransactionError extends NonRetryableError {
  override readonly code: string = "step.inside_transaction";
}

/** Why a handler's signal was aborted. */
export class AttemptAbortedError extends PerdureError {}

/** A workflow's run ended with an error: its `cause` is what the workflow threw. */
export class WorkflowFailedError extends PerdureError {
  constructor(workflow: string, id: string, cause: unknown) {
    super("workflow.failed", `The instance "${id}" of the workflow "${workflow}" failed: ${textOf(cause)}`, { cause });
  }
}

/** Any value can be thrown, even an object without a string form. */
function textOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? String(thrown.message) : String(thrown);
  } catch {
    return "it threw an object";
  }
}

/** A workflow's run was terminated, so it has no result. */
export class WorkflowTerminatedError extends PerdureError {
  constructor(workflow: string, id: string) {
    super("workflow.terminated", `The instance "${id}" of the workflow "${workflow}" was terminated.`);
  }
}

/** The run of an instance didn't end in time. */
export class WorkflowTimeoutError extends PerdureError {
  constructor(workflow: string, id: string, timeoutMs: number) {
    super(
      "workflow.timeout",
      `The instance "${id}" of the workflow "${workflow}" wasn't finished within its timeout of ${timeoutMs} milliseconds.`,
    );
  }
}

/** No event came in time. */
export class EventTimeoutError extends PerdureError {
  constructor(message: string) {
    super("step.event_timeout", message);
  }
}

import type { Clock } from "../clock.ts";
import { type AttemptAbortedError, RevisionConflictError } from "../errors.ts";
import { isNonRetryable } from "../non-retryable.ts";
import { checkOptions } from "../options.ts";
import { requestedDelay } from "../queue/retry-policy.ts";
import type { SubjectRecord } from "../store/subject-records.ts";
import { encodeError } from "../values/index.ts";
import { checkTime } from "./check-inputs.ts";
import type { HandleSubject, SubjectOutcome } from "./handle-subject.ts";
import type { ChangeFields, SubjectLedger } from "./subject-ledger.ts";
import { toSubjectState } from "./subject-state.ts";

export interface ExecutionOptions {
  readonly ledger: SubjectLedger;
  readonly clock: Clock;
  readonly handle: HandleSubject;
  readonly leaseMs: number;
  /** When a completed subject is due again, unless its handler says; null: it rests. */
  readonly everyMs: number | null;
  /** A checkpoint was stored: the lease lasts from when it was asked for. */
  readonly onCheckpoint: (execution: SubjectExecution, requestedAt: number) => void;
}

export interface Ending {
  readonly outcome: SubjectOutcome;
  readonly error?: unknown;
}

const RESULT_FIELDS = ["cursor", "meta", "nextDueAt"];

/**
 * One claimed subject and its handler. What it writes goes one after the other, each at the revision that the last one made.
 *
 *     running --(returns)--> completed          running --(lease lost, or a write finds another revision)--> lost
 *        |  |                                       nothing is written any more
 *        |  '---(throws)---> failed
 *        '---(told to stop, and throws)---> released
 */
export class SubjectExecution {
  record: SubjectRecord;
  /** Whether something is on its way to the database that will move the revision. */
  writing = false;
  readonly #options: ExecutionOptions;
  readonly #abort = new AbortController();
  #writes: Promise<unknown> = Promise.resolve();
  #lost = false;
  #stopping = false;

  constructor(record: SubjectRecord, options: ExecutionOptions) {
    this.record = record;
    this.#options = options;
  }

  async run(): Promise<Ending> {
    const { handle, ledger } = this.#options;
    let fields: ChangeFields;
    try {
      const context = {
        signal: this.#abort.signal,
        checkpoint: (cursor: unknown, meta?: unknown) => this.#checkpoint(cursor, meta),
      };
      fields = this.#fieldsOf(await handle(toSubjectState(this.record), context));
    } catch (error) {
      if (this.#lost) return { outcome: "lost", error };
      if (this.#stopping) return this.#end("released", () => this.#write("release", {}));
      const delayMs = await this.#delayAfter(error, ledger);
      return this.#end("failed", () => this.#write("fail", { delayMs, error: encodeError(error) }), error);
    }
    return this.#end("completed", () => this.#write("complete", fields));
  }

  /** The lease is over, or may be. */
  abandon(reason: AttemptAbortedError): void {
    this.#lost = true;
    this.#abort.abort(reason);
  }

  /** Asks the handler to come to an end; if it throws then, that is no failure. */
  stop(reason: AttemptAbortedError): void {
    this.#stopping = true;
    this.#abort.abort(reason);
  }

  /** Doesn't wait for the handler any more: gives the subject back, and writes nothing of it afterwards. */
  async handBack(reason: AttemptAbortedError): Promise<void> {
    const release = this.#write("release", {});
    this.abandon(reason);
    await release.catch(() => {}); // its lease runs out by itself
  }

  #checkpoint(cursor: unknown, meta: unknown): Promise<void> {
    const { clock, leaseMs, onCheckpoint } = this.#options;
    const requestedAt = clock.monotonic();
    return this.#write("checkpoint", { cursor, meta, leaseMs }).then(
      () => onCheckpoint(this, requestedAt),
      (error: unknown) => {
        if (error instanceof RevisionConflictError) this.#lose(error);
        throw error;
      },
    );
  }

  async #end(outcome: SubjectOutcome, write: () => Promise<unknown>, error?: unknown): Promise<Ending> {
    if (this.#lost) return { outcome: "lost", error };
    try {
      await write();
      return { outcome, error };
    } catch (failure) {
      return { outcome: "lost", error: failure };
    }
  }

  /** In the order of asking. */
  #write(kind: "checkpoint" | "complete" | "fail" | "release", fields: ChangeFields): Promise<void> {
    const write = this.#writes.then(async () => {
      this.writing = true;
      try {
        this.record = await this.#options.ledger.change(kind, this.record, fields);
      } finally {
        this.writing = false;
      }
    });
    this.#writes = write.catch(() => {});
    return write;
  }

  #lose(reason: Error): void {
    this.#lost = true;
    this.#abort.abort(reason);
  }

  #fieldsOf(result: Awaited<ReturnType<HandleSubject>>): ChangeFields {
    if (result === undefined) return { delayMs: this.#options.everyMs };
    checkOptions(result, { label: "The result of a handler", fields: RESULT_FIELDS, code: "subject.invalid" });
    const { cursor, meta } = result;
    const dueAt = checkTime(result.nextDueAt, "nextDueAt");
    return { cursor, meta, dueAt, delayMs: dueAt === null ? this.#options.everyMs : null };
  }

  /** What can't succeed by trying again is tried as seldom as the schedule allows. */
  async #delayAfter(error: unknown, ledger: SubjectLedger): Promise<number> {
    if (isNonRetryable(error)) return ledger.settings.retries.maxDelay;
    const requested = requestedDelay(error, this.#options.clock.now());
    return requested ?? ledger.delayAfter(this.record.failures + 1);
  }
}

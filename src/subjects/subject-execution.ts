import type { Clock } from "../clock.ts";
import { type AttemptAbortedError, RevisionConflictError, StoreError } from "../errors.ts";
import { isNonRetryable } from "../non-retryable.ts";
import { checkOptions } from "../options.ts";
import { requestedDelay } from "../queue/retry-policy.ts";
import type { SubjectChangeKind, SubjectRecord } from "../store/subjects/subject-records.ts";
import { encodeError, tame } from "../values/index.ts";
import { checkTime } from "./subject-inputs.ts";
import type { ChangeFields, EncodedProgress, SubjectLedger } from "./subject-ledger.ts";
import { type HandleSubject, type SubjectOutcome, toSubjectState } from "./subject-state.ts";

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

type Change = Partial<EncodedProgress> & ChangeFields;

const RESULT_FIELDS = ["cursor", "meta", "nextDueAt"];

/**
 * One claimed subject and its handler. Its writes are made one after the other, each at the revision that the last one made.
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
    const { handle } = this.#options;
    let completion: Change;
    try {
      const context = {
        signal: this.#abort.signal,
        checkpoint: (cursor: unknown, meta?: unknown) => this.#checkpoint(cursor, meta),
      };
      // Before anything is written: a handler that returns what can't be stored has failed.
      completion = await this.#completionOf(await handle(toSubjectState(this.record), context));
    } catch (thrown) {
      const error = tame(thrown);
      if (this.#lost) return { outcome: "lost", error };
      if (this.#stopping) return this.#end("released", () => this.#write("release", {}));
      return this.#fail(error);
    }
    const ending = await this.#end("completed", () => this.#write("complete", completion));
    return isRefused(ending.error) ? this.#fail(ending.error) : ending;
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
    const { clock, ledger, leaseMs, onCheckpoint } = this.#options;
    const requestedAt = clock.monotonic();
    const encode = () => ledger.encodeProgress(this.record.subjectKey, { cursor, meta });
    return this.#write("checkpoint", async () => ({ ...(await encode()), leaseMs })).then(
      () => onCheckpoint(this, requestedAt),
      (error: unknown) => {
        if (error instanceof RevisionConflictError) this.#lose(error);
        throw error;
      },
    );
  }

  /** An error with texts that the database can't hold is stored as what the database said about it. */
  async #fail(error: unknown): Promise<Ending> {
    const delayMs = await this.#delayAfter(error);
    const write = (reason: unknown) => this.#write("fail", { delayMs, error: encodeError(reason) });
    const ending = await this.#end("failed", () => write(error), error);
    const { error: refusal } = ending;
    return refusal !== error && isRefused(refusal) ? this.#end("failed", () => write(refusal), error) : ending;
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
  #write(kind: SubjectChangeKind, change: Change | (() => Promise<Change>)): Promise<void> {
    const write = this.#writes.then(async () => {
      this.writing = true;
      try {
        const fields = typeof change === "function" ? await change() : change;
        this.record = await this.#options.ledger.write(kind, this.record, fields);
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

  async #completionOf(result: Awaited<ReturnType<HandleSubject>>): Promise<Change> {
    const { ledger, everyMs } = this.#options;
    if (result === undefined) return { delayMs: everyMs };
    checkOptions(result, { label: "The result of a handler", fields: RESULT_FIELDS, code: "subject.invalid" });
    const dueAt = checkTime(result.nextDueAt, "nextDueAt");
    const progress = await ledger.encodeProgress(this.record.subjectKey, result);
    return { ...progress, dueAt, delayMs: dueAt === null ? everyMs : null };
  }

  /** A failure that another attempt can't repair is tried again as rarely as the schedule allows. */
  async #delayAfter(error: unknown): Promise<number> {
    const { ledger } = this.#options;
    if (isNonRetryable(error)) return ledger.settings.retries.maxDelay;
    const requested = requestedDelay(error, this.#options.clock.now());
    return requested ?? ledger.delayAfter(this.record.failures + 1);
  }
}

/** Whether the database can't hold what was to be written, such as a text that its encoding doesn't have. */
function isRefused(error: unknown): boolean {
  return error instanceof StoreError && error.code === "store.rejected";
}

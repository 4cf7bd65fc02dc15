import { type Clock, pause } from "../clock.ts";
import { AttemptAbortedError, CommitOutcomeUnknownError, isInfrastructure, StoreError } from "../errors.ts";
import type { Engine, EngineTransaction, Isolation } from "../store/engine.ts";
import { OpenTransaction } from "./open-transaction.ts";

/**
 * The attempt that a transaction belongs to. `End` is how its function has ended, `Sent` what the transaction writes last, and
 * `Done` what is known when that is committed.
 */
export interface TransactionHost<End, Sent, Done> {
  readonly engine: Pick<Engine, "dialect" | "transaction">;
  readonly clock: Clock;
  /** Undefined: that of the database. */
  readonly isolation: Isolation | undefined;
  /** How long the function may take. */
  readonly timeoutMs: number | null;
  /** Whether the attempt was ended by others: its transaction is rolled back. */
  readonly over: boolean;
  /** Whether the lease allows to call the function now. */
  readonly mayBegin: boolean;
  /** Aborted when the function must stop. */
  signal(): AbortSignal;
  /** The function took too long. */
  abort(reason: AttemptAbortedError): void;
  /** Calls the user's function. */
  call(tx: OpenTransaction): Promise<End>;
  /**
   * Waits until the end can be written. Runs outside the transaction; `defer` calls back after everything that is under way,
   * though the transaction is open.
   */
  seal(end: End, defer: Clock["defer"]): Promise<Sent>;
  /** Writes it as the last statement; null if this owner may not write any more. */
  write(transaction: EngineTransaction, sent: Sent): Promise<Done | null>;
  /** Reads whether a commit whose reply was lost was written; null if this owner can't write any more, and won't know. */
  find(written: Done): Promise<Done | "absent" | null>;
  /** It was rolled back for certain. */
  rolledBack(): void;
}

/** What became of a transaction. */
export type Conclusion<Done> =
  | { readonly kind: "committed"; readonly done: Done }
  /** `known`: it was rolled back for certain. */
  | { readonly kind: "failed"; readonly error: unknown; readonly known: boolean }
  /** It has called no function, or none that had an effect, and may not now. */
  | { readonly kind: "withdrawn"; readonly known: boolean }
  | { readonly kind: "superseded" | "dropped" };

const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 2000;

/** The last statement was refused: what it writes isn't this owner's any more. */
class Superseded extends Error {}

/** The function's own error, or that of its result. */
class BodyFailed extends Error {
  readonly error: unknown;
  /** Whether the function may succeed if it is called again, though it has failed. */
  readonly interrupted: boolean;

  constructor(error: unknown, interrupted: boolean) {
    super();
    this.error = error;
    this.interrupted = interrupted;
  }
}

/**
 * The transaction of one attempt. If the database could not serialize it, or the connection was lost, the function is called
 * again, which isn't another attempt. If the reply to the commit was lost, it first reads whether the last statement was
 * written. That statement is also the fence, by its token or its position: if the lost commit arrives later, one of the two is
 * refused.
 */
export class TransactionAttempt<End, Sent, Done> {
  readonly #host: TransactionHost<End, Sent, Done>;
  /** What was written before a commit whose outcome isn't known. */
  #unknown: { readonly done: Done } | null = null;
  /** What this try has written. */
  #written: { readonly done: Done } | null = null;
  /** Whether this try has come as far as the function. */
  #begun = false;
  /** Whether this try failed though the function may succeed if it is called again. */
  #interrupted = false;

  constructor(host: TransactionHost<End, Sent, Done>) {
    this.#host = host;
  }

  async run(): Promise<Conclusion<Done>> {
    for (let delay = FIRST_PAUSE_MS; ; delay = Math.min(delay * 2, LONGEST_PAUSE_MS)) {
      if (this.#host.over) return { kind: "dropped" };
      if (!this.#host.mayBegin) return { kind: "withdrawn", known: this.#unknown === null };
      const conclusion = await this.#try();
      if (conclusion !== "again") return conclusion;
      await pause(this.#host.clock, delay, this.#host.signal());
    }
  }

  async #try(): Promise<Conclusion<Done> | "again"> {
    this.#written = null;
    this.#begun = false;
    this.#interrupted = false;
    try {
      return { kind: "committed", done: await this.#transact() };
    } catch (error) {
      return this.#judge(error);
    }
  }

  /** The promise that tells of the function's end is awaited out here: what follows from it isn't part of the transaction. */
  #transact(): Promise<Done> {
    let tellEnd: (ended: { end: End; defer: Clock["defer"] }) => void = () => {};
    const ended = new Promise<{ end: End; defer: Clock["defer"] }>((resolve) => {
      tellEnd = resolve;
    });
    const sealed = ended.then(({ end, defer }) => this.#host.seal(end, defer));
    const { isolation, engine, clock } = this.#host;
    const deferOutside: Clock["defer"] = (callback) => clock.defer(callback);
    const options = isolation === undefined ? { owned: true } : { owned: true, isolation };
    return engine.transaction(async (transaction) => {
      this.#begun = true;
      tellEnd({ end: await this.#callBody(transaction), defer: transaction.defer ?? deferOutside });
      const sent = await this.#unlessStopped(sealed);
      const done = await this.#write(transaction, sent);
      if (done === null) throw new Superseded();
      this.#written = { done };
      return done;
    }, options);
  }

  /** The function may have caught the error of a statement that was interrupted: then this one is refused. */
  async #write(transaction: EngineTransaction, sent: Sent): Promise<Done | null> {
    try {
      return await this.#host.write(transaction, sent);
    } catch (error) {
      this.#interrupted = transaction.interrupted;
      throw error;
    }
  }

  async #callBody(transaction: EngineTransaction): Promise<End> {
    const { engine, timeoutMs } = this.#host;
    // The lease may have run out while the transaction began.
    if (this.#host.over || !this.#host.mayBegin) throw new BodyFailed(undefined, true);
    const open = new OpenTransaction(engine.dialect, transaction);
    try {
      return await this.#unlessStopped(this.#host.call(open), timeoutMs);
    } catch (error) {
      throw new BodyFailed(error, transaction.interrupted);
    } finally {
      open.finish();
    }
  }

  /** Rejects when the attempt is dropped or times out, or after the limit, whatever happens to the work. */
  #unlessStopped<Value>(work: Promise<Value>, limitMs: number | null = null): Promise<Value> {
    work.catch(() => {});
    const signal = this.#host.signal();
    return new Promise<Value>((resolve, reject) => {
      const stop = () => reject(signal.reason);
      const timeOut = () => this.#host.abort(tooLong(limitMs as number));
      const timer = limitMs === null ? null : this.#host.clock.setTimer(timeOut, limitMs);
      const leave = () => {
        signal.removeEventListener("abort", stop);
        timer?.cancel();
      };
      signal.addEventListener("abort", stop);
      if (signal.aborted) stop();
      work.then(resolve, reject).finally(leave);
    });
  }

  /** What an error means: the transaction was rolled back for certain, or it must be looked at, or it is tried again. */
  async #judge(error: unknown): Promise<Conclusion<Done> | "again"> {
    if (error instanceof CommitOutcomeUnknownError && this.#written !== null) {
      this.#unknown = this.#written;
      return this.#look();
    }
    if (error instanceof Superseded) return this.#unknown === null ? { kind: "superseded" } : this.#look();
    const known = this.#unknown === null;
    if (known) this.#host.rolledBack();
    if (error instanceof BodyFailed) {
      if (error.interrupted && !this.#host.over) return "again";
      return this.#host.over ? { kind: "dropped" } : { kind: "failed", error: error.error, known };
    }
    if (this.#interrupted && !this.#host.over) return "again";
    // A database in which no transaction can begin says nothing about the function.
    if (isInfrastructure(error) && (!this.#begun || (error as StoreError).transient)) return "again";
    return { kind: "failed", error, known };
  }

  /** Reads whether the commit whose reply was lost was written. */
  async #look(): Promise<Conclusion<Done> | "again"> {
    const { done: written } = this.#unknown as { done: Done };
    for (let delay = FIRST_PAUSE_MS; ; delay = Math.min(delay * 2, LONGEST_PAUSE_MS)) {
      try {
        const done = await this.#host.find(written);
        if (done === null) return { kind: "superseded" };
        if (done !== "absent") return { kind: "committed", done };
        return this.#host.over ? { kind: "failed", error: null, known: false } : "again";
      } catch (error) {
        if (!(error instanceof StoreError && error.transient) || this.#host.over) throw error;
        await pause(this.#host.clock, delay, this.#host.signal());
      }
    }
  }
}

function tooLong(limitMs: number): AttemptAbortedError {
  return new AttemptAbortedError(
    "transaction.too_long",
    `The transaction was rolled back, because its function didn't end within ${limitMs} milliseconds. Do slow work before it, or ` +
      "raise its `timeout`.",
  );
}

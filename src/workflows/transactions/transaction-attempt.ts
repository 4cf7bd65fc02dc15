import { type Clock, pause } from "../../clock.ts";
import { AttemptAbortedError, CommitOutcomeUnknownError, isInfrastructure, StoreError } from "../../errors.ts";
import type { EngineTransaction } from "../../store/engine.ts";
import type { InstanceCommit, JournalEntry, NewEntry } from "../../store/instances/instance-records.ts";
import { decodeValue } from "../../values/index.ts";
import type { Attempt } from "../execution/attempt.ts";
import { endWithValue } from "../execution/attempt-results.ts";
import type { WrittenCommit } from "../execution/commits.ts";
import type { AttemptEnd } from "../execution/endings.ts";
import type { ExecutionHost } from "../execution/execution-host.ts";
import type { Hold } from "../execution/hold.ts";
import type { RunLimits } from "../execution/run-limits.ts";
import { pathOf } from "../execution/steps/step-path.ts";
import { runInside } from "../execution/steps/step-scope.ts";
import { OpenTransaction } from "./open-transaction.ts";
import type { TransactionPolicy } from "./transaction-policy.ts";

/** The body of a transaction that is still open. */
export interface EndedBody {
  readonly end: AttemptEnd;
  /** Calls back after everything that is under way, though the transaction is open. */
  readonly defer: Clock["defer"];
}

/** Gives transactions their place among the commits of the run. */
export interface Sealing {
  /** Waits for the turn in which the end can be written; gives the commit to write. */
  untilSealed(ended: EndedBody): Promise<InstanceCommit>;
  /** The transaction was rolled back. */
  unseal(): void;
}

/** What became of the transaction of an attempt. */
export type Conclusion =
  | {
      readonly kind: "committed";
      readonly commit: InstanceCommit;
      readonly end: AttemptEnd;
      readonly answer: WrittenCommit;
    }
  /** `known`: it was rolled back for certain. */
  | { readonly kind: "failed"; readonly error: unknown; readonly known: boolean }
  /** It has called no body, or none that had an effect, and may not now. */
  | { readonly kind: "withdrawn"; readonly known: boolean }
  | { readonly kind: "superseded" | "dropped" };

type Committed = Extract<Conclusion, { kind: "committed" }>;

interface SentCommit {
  readonly commit: InstanceCommit;
  readonly end: AttemptEnd;
  /** As the last statement of the transaction was told. */
  readonly paused: boolean;
}

const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 2000;

/** The commit was refused: the instance isn't ours any more, or its position is taken. */
class Superseded extends Error {}

/** The body's own error, or that of its result. */
class BodyFailed extends Error {
  readonly error: unknown;
  /** Whether the body may succeed if it is called again, though it has failed. */
  readonly interrupted: boolean;

  constructor(error: unknown, interrupted: boolean) {
    super();
    this.error = error;
    this.interrupted = interrupted;
  }
}

/**
 * One attempt at a step with a transaction. If the database could not serialize the transaction, or the connection was lost, the body
 * is called again, which isn't another attempt. If the reply to the commit was lost, it first reads whether the entry is there. The
 * position of the entry is the fence: if the lost commit arrives later, one of the two is refused.
 */
export class TransactionAttempt {
  readonly #attempt: Attempt;
  readonly #policy: TransactionPolicy;
  readonly #host: ExecutionHost;
  readonly #hold: Hold;
  readonly #limits: RunLimits;
  readonly #sealing: Sealing;
  /** The commit that was sent, and whose outcome isn't known. */
  #unknown: SentCommit | null = null;
  /** The commit that this try has sent. */
  #sent: SentCommit | null = null;
  /** Whether this try has come as far as the body. */
  #begun = false;

  constructor(attempt: Attempt, host: ExecutionHost, hold: Hold, limits: RunLimits, sealing: Sealing) {
    this.#attempt = attempt;
    this.#policy = attempt.call.transaction as TransactionPolicy;
    this.#host = host;
    this.#limits = limits;
    this.#sealing = sealing;
    this.#hold = hold;
  }

  readonly #defer: Clock["defer"] = (callback) => this.#host.clock.defer(callback);

  async run(): Promise<Conclusion> {
    for (let delay = FIRST_PAUSE_MS; ; delay = Math.min(delay * 2, LONGEST_PAUSE_MS)) {
      if (this.#attempt.over) return { kind: "dropped" };
      if (!this.#hold.mayBegin) return { kind: "withdrawn", known: this.#unknown === null };
      const conclusion = await this.#try();
      if (conclusion !== "again") return conclusion;
      await pause(this.#host.clock, delay, this.#attempt.signal());
    }
  }

  async #try(): Promise<Conclusion | "again"> {
    this.#sent = null;
    this.#begun = false;
    try {
      return await this.#transact();
    } catch (error) {
      return this.#judge(error);
    }
  }

  /** The promise that tells of the body's end is awaited out here: what follows from it isn't part of the transaction. */
  #transact(): Promise<Committed> {
    let tellEnd: (ended: EndedBody) => void = () => {};
    const ended = new Promise<EndedBody>((resolve) => {
      tellEnd = resolve;
    });
    const sealed = ended.then((body) => this.#sealing.untilSealed(body));
    const { isolation } = this.#policy;
    const options = isolation === undefined ? { owned: true } : { owned: true, isolation };
    return this.#host.transaction(async (transaction) => {
      this.#begun = true;
      const end = await this.#callBody(transaction);
      tellEnd({ end, defer: transaction.defer ?? this.#defer });
      const commit = await this.#unlessStopped(sealed);
      const answer = await transaction.commitInstance(commit);
      if (answer.result === "superseded") throw new Superseded();
      this.#sent = { commit, end, paused: answer.paused };
      return { kind: "committed", commit, end, answer };
    }, options);
  }

  async #callBody(transaction: EngineTransaction): Promise<AttemptEnd> {
    const { call, context } = this.#attempt;
    // The lease may have run out while the transaction began.
    if (this.#attempt.over || !this.#hold.mayBegin) throw new BodyFailed(undefined, true);
    const open = new OpenTransaction(this.#host.dialect, transaction);
    const body = call.body as (...given: never[]) => unknown as (tx: OpenTransaction, ctx: unknown) => unknown;
    try {
      const running = (async () => runInside(this.#attempt, () => body(open, context)))();
      const value = await this.#unlessStopped(running, call.policy.timeoutMs);
      const end = endWithValue(call, value, this.#limits);
      if ("error" in end) throw end.error;
      if (!this.#limits.takes(end.text)) throw this.#limits.refusal();
      return end;
    } catch (error) {
      throw new BodyFailed(error, transaction.interrupted);
    } finally {
      open.finish();
    }
  }

  /** Rejects when the attempt is dropped or times out, or after the limit, whatever becomes of the work. */
  #unlessStopped<Value>(work: Promise<Value>, limitMs: number | null = null): Promise<Value> {
    work.catch(() => {});
    const signal = this.#attempt.signal();
    return new Promise<Value>((resolve, reject) => {
      const stop = () => reject(signal.reason);
      const timeOut = () => this.#attempt.abort(tooLong(limitMs as number));
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
  async #judge(error: unknown): Promise<Conclusion | "again"> {
    if (error instanceof CommitOutcomeUnknownError && this.#sent !== null) {
      this.#unknown = this.#sent;
      return this.#look();
    }
    if (error instanceof Superseded) return this.#unknown === null ? { kind: "superseded" } : this.#look();
    const known = this.#unknown === null;
    if (known) this.#sealing.unseal();
    if (error instanceof BodyFailed) {
      if (error.interrupted && !this.#attempt.over) return "again";
      return this.#attempt.over ? { kind: "dropped" } : { kind: "failed", error: error.error, known };
    }
    // A database in which no transaction can begin says nothing about the body.
    if (isInfrastructure(error) && (!this.#begun || (error as StoreError).transient)) return "again";
    return { kind: "failed", error, known };
  }

  /** Reads whether the commit whose reply was lost was written. */
  async #look(): Promise<Conclusion | "again"> {
    const { commit, end, paused } = this.#unknown as SentCommit;
    for (let delay = FIRST_PAUSE_MS; ; delay = Math.min(delay * 2, LONGEST_PAUSE_MS)) {
      try {
        const found = await this.#host.readCommit(commit, this.#hold.lease);
        if (found === null) return { kind: "superseded" };
        const { entries, wakes } = found;
        if (entries.length === 0) return this.#attempt.over ? { kind: "failed", error: null, known: false } : "again";
        const last = entries[commit.entries.length - 1];
        if (last === undefined || !isSame(last, commit.entries.at(-1) as NewEntry)) return { kind: "superseded" };
        return {
          kind: "committed",
          commit,
          end: asStored(end, last),
          answer: { result: "written", at: last.at, wakes, paused },
        };
      } catch (error) {
        if (!(error instanceof StoreError && error.transient) || this.#attempt.over) throw error;
        await pause(this.#host.clock, delay, this.#attempt.signal());
      }
    }
  }
}

function isSame(stored: JournalEntry, entry: NewEntry): boolean {
  return stored.kind === entry.kind && pathOf(stored) === pathOf(entry);
}

/** The body may have been called twice, and may have given something else: the stored result counts. */
function asStored({ call }: AttemptEnd, { value }: JournalEntry): AttemptEnd {
  return { call, value: value === null ? undefined : decodeValue(value), text: value };
}

function tooLong(limitMs: number): AttemptAbortedError {
  return new AttemptAbortedError(
    "transaction.too_long",
    `The transaction was rolled back, because its function didn't end within ${limitMs} milliseconds. Do slow work in a step ` +
      "before it, or raise the step's `timeout`.",
  );
}

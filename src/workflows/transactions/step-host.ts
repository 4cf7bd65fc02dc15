import type { Clock } from "../../clock.ts";
import type { AttemptAbortedError } from "../../errors.ts";
import type { OpenTransaction } from "../../queue/open-transaction.ts";
import type { TransactionHost } from "../../queue/transaction-attempt.ts";
import type { EngineTransaction, Isolation } from "../../store/engine.ts";
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

/** What a step's transaction writes last. */
interface SentCommit {
  readonly commit: InstanceCommit;
  readonly end: AttemptEnd;
}

/** The transaction of a step was committed. */
export interface CommittedStep extends SentCommit {
  readonly answer: WrittenCommit;
}

/** One attempt at a step with a transaction. Its last statement is a commit of the run, whose position is the fence. */
export class StepHost implements TransactionHost<AttemptEnd, SentCommit, CommittedStep> {
  readonly engine: ExecutionHost;
  readonly clock: Clock;
  readonly isolation: Isolation | undefined;
  readonly timeoutMs: number | null;
  readonly #attempt: Attempt;
  readonly #hold: Hold;
  readonly #limits: RunLimits;
  readonly #sealing: Sealing;

  constructor(attempt: Attempt, host: ExecutionHost, hold: Hold, limits: RunLimits, sealing: Sealing) {
    this.engine = host;
    this.clock = host.clock;
    this.isolation = (attempt.call.transaction as TransactionPolicy).isolation;
    this.timeoutMs = attempt.call.policy.timeoutMs;
    this.#attempt = attempt;
    this.#hold = hold;
    this.#limits = limits;
    this.#sealing = sealing;
  }

  get over(): boolean {
    return this.#attempt.over;
  }

  get mayBegin(): boolean {
    return this.#hold.mayBegin;
  }

  signal(): AbortSignal {
    return this.#attempt.signal();
  }

  abort(reason: AttemptAbortedError): void {
    this.#attempt.abort(reason);
  }

  async call(tx: OpenTransaction): Promise<AttemptEnd> {
    const { call, context } = this.#attempt;
    const body = call.body as (...given: never[]) => unknown as (tx: OpenTransaction, ctx: unknown) => unknown;
    const value = await runInside(this.#attempt, () => body(tx, context));
    const end = endWithValue(call, value, this.#limits);
    if ("error" in end) throw end.error;
    if (!this.#limits.takes(end.text)) throw this.#limits.refusal();
    return end;
  }

  async seal(end: AttemptEnd, defer: Clock["defer"]): Promise<SentCommit> {
    return { commit: await this.#sealing.untilSealed({ end, defer }), end };
  }

  async write(transaction: EngineTransaction, { commit, end }: SentCommit): Promise<CommittedStep | null> {
    const answer = await transaction.commitInstance(commit);
    return answer.result === "superseded" ? null : { commit, end, answer };
  }

  async find({ commit, end, answer: { paused } }: CommittedStep): Promise<CommittedStep | "absent" | null> {
    const found = await this.engine.readCommit(commit, this.#hold.lease);
    if (found === null) return null;
    const { entries, wakes } = found;
    if (entries.length === 0) return "absent";
    const last = entries[commit.entries.length - 1];
    if (last === undefined || !isSame(last, commit.entries.at(-1) as NewEntry)) return null;
    return { commit, end: asStored(end, last), answer: { result: "written", at: last.at, wakes, paused } };
  }

  rolledBack(): void {
    this.#sealing.unseal();
  }
}

function isSame(stored: JournalEntry, entry: NewEntry): boolean {
  return stored.kind === entry.kind && pathOf(stored) === pathOf(entry);
}

/** The body may have been called twice, and may have given something else: the stored result counts. */
function asStored({ call }: AttemptEnd, { value }: JournalEntry): AttemptEnd {
  return { call, value: value === null ? undefined : decodeValue(value), text: value };
}

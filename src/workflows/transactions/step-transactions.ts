import { CodecError, InvalidInputError, ValueRefusedError } from "../../errors.ts";
import { type Conclusion, TransactionAttempt } from "../../queue/transaction-attempt.ts";
import type { InstanceCommit } from "../../store/instances/instance-records.ts";
import type { Attempt } from "../execution/attempt.ts";
import type { Commits } from "../execution/commits.ts";
import type { AttemptEnd } from "../execution/endings.ts";
import type { ExecutionHost } from "../execution/execution-host.ts";
import type { Hold } from "../execution/hold.ts";
import type { RunLimits } from "../execution/run-limits.ts";
import { type CommittedStep, type EndedBody, type Sealing, StepHost } from "./step-host.ts";

/** The execution whose steps have transactions. */
export interface TransactionOwner {
  /** The attempt has called no body, and isn't counted. */
  withdraw(attempt: Attempt): void;
  /** A transaction has written the end of its step. It is delivered before anything else. */
  transacted(end: AttemptEnd): void;
  /** Whether the execution has ended, or has let go of its instance. */
  readonly over: boolean;
  /** Takes a turn now. */
  takeTurn(): void;
  /** Takes a turn soon. */
  soon(): void;
  supersede(): void;
  fail(error: unknown): void;
}

/**
 * The transactions of a run's steps, one at a time. From its beginning to its end, a transaction has the next commit of the
 * run: what other steps have to write waits for it, or goes with it. So its place in the journal is known, and no commit of
 * this run waits for a database that the transaction keeps, as SQLite's.
 *
 * When a body has ended, its transaction waits for a turn in which nothing is left to deliver (`seal`). It then writes the
 * entries of the turn and its own as its last statement, and commits. Until that is known, nothing else is delivered: a replay
 * delivers in the order of the journal.
 *
 *     waiting ─▶ running ─▶ ended ─(seal)─▶ committing ─▶ delivered
 */
export class StepTransactions implements Sealing {
  readonly #host: ExecutionHost;
  readonly #hold: Hold;
  readonly #commits: Commits;
  readonly #limits: RunLimits;
  readonly #owner: TransactionOwner;
  #waiting: Attempt[] = [];
  /** The transaction whose body has ended, until a turn seals it. */
  #ended: (EndedBody & { readonly resolve: (commit: InstanceCommit) => void }) | null = null;
  #committing = false;

  constructor(host: ExecutionHost, hold: Hold, commits: Commits, limits: RunLimits, owner: TransactionOwner) {
    this.#host = host;
    this.#hold = hold;
    this.#commits = commits;
    this.#limits = limits;
    this.#owner = owner;
  }

  /** Whether a transaction is being committed: until that is known, nothing may be delivered. */
  get committing(): boolean {
    return this.#committing;
  }

  /** It begins when everything else is committed, and those before it have ended. */
  add(attempt: Attempt): void {
    this.#waiting.push(attempt);
  }

  /** Everything is committed: begins the next, if there is one. If none may begin, gives whether some were withdrawn. */
  begin(mayBegin: boolean): boolean {
    const waiting = this.#waiting.filter(({ over }) => !over);
    this.#waiting = mayBegin ? waiting.slice(1) : [];
    if (!mayBegin) for (const attempt of waiting) this.#owner.withdraw(attempt);
    const [next] = waiting;
    if (next === undefined || !mayBegin) return next !== undefined;
    this.#commits.reserve();
    void this.#run(next);
    return false;
  }

  /** Nothing is left to deliver: a transaction whose body has ended is committed. */
  seal(): void {
    const ended = this.#ended;
    if (ended === null) return;
    this.#ended = null;
    this.#committing = true;
    ended.resolve(this.#compose(ended.end));
  }

  /** Waits for the turn in which the end can be written. */
  untilSealed(body: EndedBody): Promise<InstanceCommit> {
    if (this.#committing) return Promise.resolve(this.#compose(body.end)); // the outcome of an earlier try is unknown
    return new Promise((resolve) => {
      this.#ended = { ...body, resolve };
      this.#takeTurns(this.#ended);
    });
  }

  /**
   * Until it is sealed: a Durable Object keeps the turns of its executions waiting for the transaction, which waits for this
   * one.
   */
  #takeTurns(ended: EndedBody): void {
    ended.defer(() => {
      if (this.#ended !== ended || this.#owner.over) return;
      this.#owner.takeTurn();
      if (this.#ended === ended) this.#takeTurns(ended);
    });
  }

  /** It was rolled back for certain: others may be delivered again. */
  unseal(): void {
    this.#ended = null;
    this.#committing = false;
    this.#commits.unseal();
  }

  #compose(end: AttemptEnd): InstanceCommit {
    const { call } = end;
    const text = "text" in end ? end.text : null;
    return this.#commits.seal(call.tentativeEntry("completed", { attempt: call.attempt, value: text }));
  }

  async #run(attempt: Attempt): Promise<void> {
    const host = new StepHost(attempt, this.#host, this.#hold, this.#limits, this);
    let conclusion: Conclusion<CommittedStep>;
    try {
      conclusion = await new TransactionAttempt(host).run();
    } catch (error) {
      conclusion = { kind: "failed", error, known: false };
    }
    if (conclusion.kind === "committed") this.#committed(attempt, conclusion.done);
    else this.#rolledBack(attempt, conclusion);
  }

  #committed(attempt: Attempt, { commit, answer, end }: CommittedStep): void {
    this.#committing = false;
    attempt.call.entryWritten();
    if (attempt.conclude() && !this.#owner.over) this.#owner.transacted(end);
    this.#commits.sealWritten(commit, answer);
  }

  #rolledBack(attempt: Attempt, conclusion: Exclude<Conclusion<CommittedStep>, { kind: "committed" }>): void {
    this.#ended = null;
    this.#committing = false;
    const { kind } = conclusion;
    this.#commits.release({ broken: kind === "superseded" || ("known" in conclusion && !conclusion.known) });
    if (kind === "superseded") this.#owner.supersede();
    else if (kind === "withdrawn" && !attempt.over) this.#owner.withdraw(attempt);
    else if (kind === "failed") this.#fail(attempt, conclusion.error);
    if (!this.#owner.over) this.#owner.soon();
  }

  /** The error of the body is that of the attempt. An error of the codec concerns the whole run. */
  #fail(attempt: Attempt, error: unknown): void {
    if (error instanceof CodecError) this.#owner.fail(error);
    else if (error instanceof ValueRefusedError) attempt.fail(unstorable(error));
    else attempt.fail(error);
  }
}

function unstorable({ message }: ValueRefusedError): InvalidInputError {
  return new InvalidInputError("value.refused", `The result of the step can't be stored. ${message}`);
}

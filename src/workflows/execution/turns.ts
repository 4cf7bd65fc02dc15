import type { Timer } from "../../clock.ts";
import { AttemptAbortedError, StoreError, type ValueRefusedError } from "../../errors.ts";
import type { RunTrace } from "../../monitoring/tracing.ts";
import type {
  ClaimedInstance,
  InstanceCommit,
  InstanceLease,
  InstanceOutcome,
} from "../../store/instances/instance-records.ts";
import type { HeldLoad } from "../../store/instances/load-budget.ts";
import type { Rollback } from "../rollback/rollback.ts";
import type { RollbackCall } from "../rollback/rollback-call.ts";
import { StreamLostError } from "../streams/step-streams.ts";
import { StepTransactions, type TransactionOwner } from "../transactions/step-transactions.ts";
import type { Attempt } from "./attempt.ts";
import { endWithValue } from "./attempt-results.ts";
import { CodeRun } from "./code-run.ts";
import { type CommitOwner, Commits, type RefusedPart, type WrittenCommit } from "./commits.ts";
import { DatabaseTime } from "./database-time.ts";
import type { AttemptEnd } from "./endings.ts";
import { Events } from "./events.ts";
import type { ExecutionEnd, ExecutionHost, ParkedExecution } from "./execution-host.ts";
import { Hold } from "./hold.ts";
import { isFinal, RELEASED, type RunResult } from "./outcomes.ts";
import { RunLimits } from "./run-limits.ts";
import { OpenSteps, type StepOwner } from "./steps/open-steps.ts";
import type { BodyCall, OpenCall } from "./steps/step-call.ts";
import { endWithError } from "./steps/step-retry.ts";

const NO_ALIASES: readonly string[] = [];

/**
 * The turns of a run in the memory of its owner. Each delivers one ending, and the next comes when the code has done everything
 * that it does in answer. When nothing is left to deliver, the new entries are committed; when that is written, bodies begin,
 * or time must pass. Everything that a turn reads and changes is here: the open steps, the code, the commits, and the hold on
 * the instance.
 *
 *     turn: deliver one ending ─▶ (the code reacts) ─▶ turn … nothing to deliver ─▶ commit ─▶ begin bodies, or wait, or end
 */
export abstract class Turns implements ParkedExecution, StepOwner, CommitOwner, TransactionOwner {
  readonly instance: ClaimedInstance;
  readonly limits: RunLimits;
  readonly code: CodeRun;
  readonly trace: RunTrace | null;
  /** Receives each failed attempt that will be retried. */
  onAttemptFailed: ((call: BodyCall, error: unknown) => void) | undefined;
  protected readonly host: ExecutionHost;
  protected readonly hold: Hold;
  protected readonly time: DatabaseTime;
  protected readonly events: Events;
  protected readonly commits: Commits;
  protected readonly steps: OpenSteps;
  /** Called when only the last commit is left. */
  protected onLastCommit: (() => void) | undefined;
  /** The loaded journal, while the code needs it. */
  protected loaded: HeldLoad | null = null;
  /** Whether the code has begun: while its journal is loaded, which may take long, there are no turns. */
  protected begun = false;
  /** Created by the first step that has a transaction. */
  #transactions: StepTransactions | undefined;
  #scheduled = false;
  /** Whether an ending was delivered that the code may not have answered yet. */
  #delivered = false;
  /** For how many promises that aren't steps the turns wait. */
  #moments = 0;
  #timer: Timer | undefined;
  #end: ExecutionEnd | undefined;
  #settle: { resolve(end: ExecutionEnd): void; reject(error: unknown): void } | undefined;

  /** `askedAt` is the monotonic time at which the claim was sent. */
  constructor(instance: ClaimedInstance, askedAt: number, host: ExecutionHost) {
    this.instance = instance;
    this.host = host;
    this.trace = host.trace(instance);
    this.hold = new Hold(instance);
    this.limits = new RunLimits(host.limits);
    this.code = new CodeRun(instance, host);
    this.time = new DatabaseTime(host.clock, instance.claimedAt, askedAt);
    this.events = new Events(instance.wakes);
    this.commits = new Commits(instance, host, this.hold, this.limits, this);
    this.steps = new OpenSteps(host, this, this.code, this.commits, this.limits, this.time, this.events);
  }

  abstract continue(...parameters: Parameters<ParkedExecution["continue"]>): Promise<ExecutionEnd>;

  get lease(): InstanceLease {
    return this.hold.lease;
  }

  // What the code does

  /** The deadline of a wait that begins now. */
  after(milliseconds: number): number {
    return this.time.after(milliseconds);
  }

  /** The code calls a step. Throws if the journal has no room for it. */
  enter(call: OpenCall, aliases: readonly string[] = NO_ALIASES): Promise<unknown> {
    const ending = this.steps.enter(call, aliases);
    this.goOn();
    return ending;
  }

  /**
   * Takes no turn until this has settled and the code has reacted to it: nothing is delivered, committed or begun meanwhile. So
   * what the code does next comes in the same place in every replay, however long this takes.
   */
  async during<Value>(moment: Promise<Value>): Promise<Value> {
    this.#moments++;
    try {
      return await moment;
    } finally {
      this.#moments--;
      this.soon();
    }
  }

  protected get standsStill(): boolean {
    return this.#moments > 0;
  }

  /** The code has done something. If the instance was parked, we want it back. */
  protected goOn(): void {
    if (this.#end?.kind === "parked" && this.code.rollback === null) this.host.reacquire(this);
    this.soon();
  }

  // How attempts end

  completed({ call }: Attempt, value: unknown): void {
    if (this.#end === undefined) this.#arrive(endWithValue(call, value, this.limits));
  }

  failed(attempt: Attempt, error: unknown): void {
    if (this.#end !== undefined) return;
    const { call } = attempt;
    if (error instanceof StreamLostError) {
      if (error.cause === undefined) this.supersede();
      else this.fail(error.cause);
      return;
    }
    if (call.type === "create" && error instanceof StoreError) {
      this.fail(error);
      return;
    }
    const end = endWithError(attempt, error, this.host.clock);
    if (!(end instanceof Promise)) {
      this.#arrive(end);
      return;
    }
    void end.then((late) => {
      // The function that chose the delay may have taken its time: the run may be over, or be rolled back.
      if (this.#end === undefined && call.running === attempt) this.#arrive(late);
    });
  }

  /** What a transaction emits is stored with its end: waiting for that would never end. */
  emit({ call }: Attempt, value: unknown): Promise<void> {
    const { entry, stored } = this.steps.progress.emit(call, value);
    this.commits.add(entry);
    if (call.transaction !== null) return Promise.resolve();
    this.soon();
    return stored;
  }

  transact(attempt: Attempt): void {
    this.#transactions ??= new StepTransactions(this.host, this.hold, this.commits, this.limits, this);
    this.#transactions.add(attempt);
  }

  withdraw({ call }: Attempt): void {
    if (call.running !== null) this.steps.bodies.withdraw(call);
  }

  transacted(end: AttemptEnd): void {
    this.#delivered = true;
    this.steps.deliverWritten(end);
    this.soon();
  }

  get over(): boolean {
    return this.#end !== undefined;
  }

  keepStream(attempt: Attempt, stream: ReadableStream<unknown>): Promise<unknown> {
    return this.host.keepStream(attempt, this.hold.lease, stream);
  }

  /** Delivers at once if nothing else was delivered in this turn; endings come one at a time. */
  #arrive(end: AttemptEnd): void {
    const busy = this.#delivered || this.#transactions?.committing || this.code.result !== undefined;
    if (busy || this.standsStill || !this.steps.endings.empty) {
      this.steps.endings.add(end);
    } else {
      this.#delivered = true;
      this.steps.deliver(end);
    }
    this.soon();
  }

  // The turn

  /** Takes the next turn after everything that the code does in answer to the last ending. */
  soon(): void {
    if (!this.begun || this.#scheduled || this.#end !== undefined) return;
    this.#scheduled = true;
    this.host.turns.add(this);
  }

  takeTurn(): void {
    this.#scheduled = false;
    this.#tryTurn();
  }

  /** Takes the next turn at once, unless it is on its way: the code has done everything that it does without another ending. */
  protected now(): void {
    if (!this.#scheduled) this.#tryTurn();
  }

  /** A turn of one execution must not disturb those of others. It fails if a stored value can't be read. */
  #tryTurn(): void {
    if (this.#end !== undefined || this.standsStill) return;
    try {
      this.#turn();
    } catch (error) {
      this.fail(error);
    }
  }

  #turn(): void {
    const { code, commits, steps, hold } = this;
    if (steps.bodies.running > 0) steps.bodies.timeOut();
    if (this.#transactions?.committing) return;
    this.#delivered = code.result === undefined && steps.deliverNext(hold.resting);
    if (this.#delivered) {
      code.rollback?.noteActivity();
      this.soon();
      return;
    }
    if (commits.writing) return;
    if (commits.reserved) {
      this.#goOnBesideTransaction();
      return;
    }
    if (code.result === undefined && !hold.resting && steps.mustLook) {
      void this.lookForEvents();
      return;
    }
    const outcome = this.#outcome();
    steps.recordDeadlines(outcome);
    if (commits.pending || outcome.kind !== "running") this.commit(outcome);
    else this.#proceed();
  }

  /** Nothing else is committed until the transaction ends. One that the function doesn't wait for is rolled back. */
  #goOnBesideTransaction(): void {
    if (this.code.result === undefined) this.#transactions?.seal();
    else this.stop("workflow.finished", "The workflow has ended: nothing waits for this step.");
    this.#setTimer();
  }

  #outcome(): InstanceOutcome {
    const { code, commits } = this;
    if (code.result === undefined) return this.steps.outcome(this.hold.resting);
    const { outcome, entries } = code.finalOutcome(code.result);
    for (const entry of entries) commits.add(entry);
    return outcome;
  }

  /** Everything is committed: begins the bodies that may begin, and waits for the rest. */
  #proceed(): void {
    const { hold, steps, code } = this;
    this.releaseLoad();
    if (code.rollback?.ready && hold.mayBegin) this.#undo(code.rollback);
    if (steps.bodies.ready === 0 || !hold.mayBegin) {
      if (this.#transactions?.begin(hold.mayBegin)) this.soon();
      this.#setTimer();
      return;
    }
    if (steps.prepare(hold.interruptions)) steps.bodies.start(this);
    this.soon(); // most bodies end at once, and need no timer
  }

  /** Takes the steps of a failed run back, one by one. */
  #undo(rollback: Rollback): void {
    const add = (call: RollbackCall) => {
      this.steps.add(call);
      this.goOn();
    };
    const end = (result: RunResult) => {
      this.code.endWith(result);
      this.goOn();
    };
    rollback.undoEach(add).then(end, (error: unknown) => this.fail(error));
  }

  #setTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const { patience = Number.POSITIVE_INFINITY } = this.code.rollback ?? {};
    const remaining = Math.min(this.steps.remaining(this.hold.resting), patience);
    if (remaining === Number.POSITIVE_INFINITY) return;
    this.#timer = this.host.clock.setTimer(() => this.soon(), Math.max(remaining, 1));
  }

  protected abstract lookForEvents(): Promise<void>;

  /** Whether time or an event must pass before anything of the run can go on. */
  protected get onlyWaits(): boolean {
    return this.steps.onlyWait && !this.standsStill && this.code.result === undefined;
  }

  /** Writes the new entries, and what becomes of the instance. */
  protected commit(wanted: InstanceOutcome): void {
    const outcome = wanted.kind === "released" ? this.givenBack(this.commits.substantial, this.onlyWaits) : wanted;
    if (isFinal(outcome)) this.onLastCommit?.();
    this.commits.write(outcome);
  }

  /** How the instance is given back. Lost owners are counted on, unless the commit says that something was done since. */
  protected givenBack(substantial: boolean, onlyWaits: boolean): InstanceOutcome {
    return this.hold.interruptions > 0 && !substantial ? RELEASED : this.steps.givenBack(onlyWaits);
  }

  abstract written(commit: InstanceCommit, answer: WrittenCommit, askedAt: number): void;
  abstract delayed(error: unknown, milliseconds: number): void;
  abstract refused(part: RefusedPart, error: ValueRefusedError): void;
  abstract readonly undoes: boolean;

  /** Undefined until it has ended. A parked one may go on. */
  protected get end(): ExecutionEnd | undefined {
    return this.#end;
  }

  /** Waits for the end. One that was parked has none from now on. */
  protected untilEnd(): Promise<ExecutionEnd> {
    this.#end = undefined;
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
  }

  protected finish(end: ExecutionEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#settle?.resolve(end);
  }

  /** The instance was terminated, restarted or deleted, has timed out, or has another owner. */
  supersede(): void {
    this.stop(
      "attempt.superseded",
      "The instance was terminated, restarted or deleted, has timed out, or another process has it.",
    );
    this.finish({ kind: "superseded" });
  }

  /** The store failed: the next owner resumes the instance. */
  fail(error: unknown): void {
    if (this.#end !== undefined) return;
    this.stop("attempt.lease_lost", "The database could not be used: the instance will be taken over.");
    this.#end = { kind: "abandoned" };
    this.#settle?.reject(error);
  }

  /**
   * Tells running bodies why their results don't count any more. Mostly none runs, and no error is created, which is costly.
   */
  protected stop(code: string, message: string): void {
    this.#timer?.cancel();
    if (this.steps.bodies.running > 0 || this.steps.emitting) this.drop(new AttemptAbortedError(code, message));
  }

  protected drop(reason: AttemptAbortedError): void {
    this.#timer?.cancel();
    this.steps.drop(reason);
  }

  /** The code was told everything that was loaded. */
  releaseLoad(): void {
    this.loaded?.release();
    this.loaded = null;
  }
}

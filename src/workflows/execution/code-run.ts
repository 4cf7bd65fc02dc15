import { type InvalidInputError, WorkflowDivergedError, WorkflowTimeoutError } from "../../errors.ts";
import type {
  ClaimedInstance,
  InstanceOutcome,
  JournalEntry,
  NewEntry,
} from "../../store/instances/instance-records.ts";
import { encodeError } from "../../values/index.ts";
import { Rollback } from "../rollback/rollback.ts";
import { UndoableSteps } from "../rollback/undoable-steps.ts";
import type { ExecutionHost } from "./execution-host.ts";
import { type RunResult, toFinalOutcome } from "./outcomes.ts";
import { RunJournal, type StepRecord } from "./run-journal.ts";
import { StartOrder } from "./steps/start-order.ts";
import { BodyCall, type CallingRun, type OpenCall, type StepCall } from "./steps/step-call.ts";
import { StepFailures } from "./steps/step-failures.ts";
import { describeStep, pathOf } from "./steps/step-path.ts";
import { runOutside } from "./steps/step-scope.ts";

/**
 * The user's function in one execution: the steps that it calls, with their records, and its result. If it fails after steps
 * that have a rollback, its result is that of the rollback.
 */
export class CodeRun implements CallingRun {
  readonly #instance: ClaimedInstance;
  readonly #host: ExecutionHost;
  readonly #starts = new StartOrder();
  readonly #undoable = new UndoableSteps();
  // Most runs aren't loaded, call no steps inside steps, and have no failures.
  #journal: RunJournal | undefined;
  #inner: Map<string, StepCall> | undefined;
  #failures: StepFailures | undefined;
  /** Steps that failed while no code was waiting for them. */
  readonly #unheard: BodyCall[] = [];
  /** Until it is called. */
  #main: (() => unknown) | undefined;
  /** Of the function; while the run is rolled back, of the rollback. */
  #result: RunResult | undefined;
  #rollback: Rollback | null = null;
  #refused = false;
  /**
   * New steps inside others, with the stored steps that were expected instead. Branches of a body may call steps in another
   * order than before, so it is decided when they are about to begin.
   */
  #doubtful: Map<StepCall, StepRecord> | undefined;
  /** Whether the operator was warned that the code has changed. */
  #diverged = false;

  constructor(instance: ClaimedInstance, host: ExecutionHost) {
    this.#instance = instance;
    this.#host = host;
  }

  get result(): RunResult | undefined {
    return this.#result;
  }

  /** Whether the function has ended. Steps that it calls afterwards can't run. */
  get isOver(): boolean {
    return this.#rollback === null ? this.#result !== undefined : this.#rollback.settled;
  }

  /** Given while the run is rolled back. */
  get rollback(): Rollback | null {
    return this.#rollback;
  }

  /** The failures of steps that the code was told of, if any. */
  get failures(): StepFailures | undefined {
    return this.#failures;
  }

  /** The place, in start order, of a step that was called and has no entry yet. */
  placeOf(path: string): number | null {
    return this.#starts.placeOf(path);
  }

  /** These entries are stored. */
  load(entries: readonly JournalEntry[]): void {
    this.#journal = new RunJournal(entries);
    this.#undoable.load(this.#journal);
    this.#starts.load(this.#journal.latestStart);
  }

  /**
   * The run begins with this function. Returns the entry to write first, if any: where a rollback was asked for from outside,
   * it collides with whatever a former owner still writes.
   */
  begin(main: () => unknown): NewEntry | null {
    this.#main = main;
    if (this.#instance.rollingBack === null) return null;
    const rollingBack = this.#journal?.rollingBack ?? null;
    const error = rollingBack === null ? this.#timeoutError() : rollingBack.value;
    this.#rollback = this.#createRollback(error);
    return rollingBack === null ? Rollback.entry(this.#instance, error) : null;
  }

  /** Calls the function; gives undefined if it was called before. */
  call(): Promise<unknown> | undefined {
    const main = this.#main;
    this.#main = undefined;
    if (main === undefined) return undefined;
    const { name: workflow, id: instance } = this.#instance;
    try {
      return Promise.resolve(runOutside({ workflow, instance }, main));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** The function has ended. While the run is rolled back, that only says that it calls no more steps. */
  ended(result: RunResult): void {
    if (this.#rollback === null) this.#result ??= result;
    else this.#rollback.settled = true;
  }

  /** The run ends with this, called or not: it was lost too often, or its rollback is over. */
  endWith(result: RunResult): void {
    this.#result = result;
  }

  /** A step inside another that is tried again is the same step: it doesn't run again. */
  findInner(call: StepCall): StepCall | undefined {
    return this.#inner?.get(pathOf(call));
  }

  /** Whatever is stored about a step, under its name or an older one. */
  find(call: StepCall, aliases: readonly string[]): StepRecord | null {
    return this.#journal?.find(call, aliases) ?? null;
  }

  /** Registers a call of the code's. Returns an error if the code has changed so much that the run must not go on with it. */
  register(call: OpenCall, record: StepRecord | null, aliases: readonly string[]): WorkflowDivergedError | null {
    call.run = this;
    if (record !== null) call.remember(record);
    this.#starts.called(call);
    const expected = record === null ? this.#expectedInsteadOf(call) : null;
    if (expected !== null && call.parent === null) {
      const divergence = this.#diverges(expected, describeStep(call));
      if (divergence !== null) return divergence;
    }
    if (call.parent !== null) {
      if (expected !== null) {
        this.#doubtful ??= new Map();
        this.#doubtful.set(call, expected);
      }
      this.#inner ??= new Map();
      this.#inner.set(pathOf(call), call);
    }
    if (call instanceof BodyCall) this.#undoable.called(call, aliases);
    return null;
  }

  /** The bodies that were called are about to begin. Returns an error if the run must not go on with this code. */
  checkInner(): WorkflowDivergedError | null {
    if (this.#doubtful === undefined) return null;
    for (const [call, expected] of this.#doubtful) {
      if (expected.reached) continue;
      const divergence = this.#diverges(expected, describeStep(call));
      if (divergence !== null) return divergence;
    }
    this.#doubtful = undefined;
    return null;
  }

  /** The function has ended. Returns an error if it has left out stored steps, and the run must not end with this code. */
  divergedEnd(): WorkflowDivergedError | null {
    if (this.#rollback !== null || !this.#host.stopsDiverged(this.#instance)) return null;
    const [expected] = this.#journal?.unreached() ?? [];
    return expected === undefined ? null : new WorkflowDivergedError(describeStep(expected), "nothing more");
  }

  /** A stored step that began before this new one, and that the code hasn't called. A rollback doesn't need them. */
  #expectedInsteadOf(call: OpenCall): StepRecord | null {
    if (this.#journal === undefined || this.#rollback !== null || this.#diverged) return null;
    return this.#journal.expectedBy(call.began, call.parent);
  }

  /** The code calls a new step instead of a stored one: warns, or gives an error. */
  #diverges(expected: StepRecord, called: string): WorkflowDivergedError | null {
    if (this.#diverged) return null;
    const { name, id } = this.#instance;
    const error = new WorkflowDivergedError(describeStep(expected), called);
    if (this.#host.stopsDiverged(this.#instance)) return error;
    this.#diverged = true;
    this.#host.warn(
      "The code calls a new step where the history has another, which it hasn't called. Its work may be done twice. " +
        'If the step was renamed, give it an alias; `onDivergence: "stop"` holds such instances.',
      { workflow: name, instance: id, expected: error.expected, called: error.called },
    );
    return null;
  }

  writesStart(call: StepCall): number | null {
    return this.#starts.writes(call);
  }

  mayWriteStart(call: StepCall): number | null {
    return this.#starts.mayWrite(call);
  }

  toldFailure(call: StepCall, error: unknown): void {
    this.#failures ??= new StepFailures();
    this.#failures.told(call, error);
    if (call.parent === null && call instanceof BodyCall && !call.promise.awaited) this.#unheard.push(call);
  }

  /** The code's own steps that have failed, and whose failures no code has waited for. */
  get unheard(): BodyCall[] {
    return this.#unheard.filter(({ promise }) => !promise.awaited);
  }

  /** The paths of the steps that made the code throw this, inside `parent`. */
  failedSteps(error: unknown, parent: string | null): readonly string[] {
    return this.#failures?.behind(error, parent) ?? [];
  }

  /** These are about to begin, and can be taken back from now on. */
  began(calls: readonly BodyCall[]): void {
    for (const call of calls) this.#undoable.began(call);
  }

  /** The outcome of the instance with the result, and the entries to write with it. A failed run is rolled back first. */
  finalOutcome(result: RunResult): { readonly outcome: InstanceOutcome; readonly entries: readonly NewEntry[] } {
    if (this.#rollback !== null) {
      return { outcome: this.#rollback.outcome(result), entries: this.#rollback.lastEntries };
    }
    const outcome = toFinalOutcome(result);
    if (outcome.kind === "completed" || this.#undoable.size === 0) return { outcome, entries: [] };
    const { error } = outcome;
    return { outcome: { kind: "rollingBack", error }, entries: [Rollback.entry(this.#instance, error)] };
  }

  /** The result can't be stored: the run fails with this error instead. Returns false if that happened before. */
  refuse(error: InvalidInputError): boolean {
    if (this.#refused || this.#result === undefined) return false;
    this.#refused = true;
    this.#result = { error };
    return true;
  }

  /** The failure is stored: from now on the run is rolled back. The function must be called if it hasn't been. */
  beginRollback(error: string): void {
    this.warnOfUnreached();
    this.#result = undefined;
    this.#rollback = this.#createRollback(error);
    if (this.#main === undefined) this.#rollback.settled = true;
  }

  /** Warns of steps that the run had before and that this code didn't call. A rollback doesn't need all of them. */
  warnOfUnreached(): void {
    if (this.#rollback !== null || this.#journal === undefined) return;
    const unreached = this.#journal.unreached();
    if (unreached.length === 0) return;
    const { name, id } = this.#instance;
    this.#host.warn("Steps that had run before were not reached by this code. If one was renamed, give it an alias.", {
      workflow: name,
      instance: id,
      steps: unreached.slice(0, 20).map(describeStep),
    });
  }

  /** A failed run says in its journal that it is rolled back. One that has timed out doesn't yet. */
  #timeoutError(): string | null {
    const { name, id, rollingBack, timeout } = this.#instance;
    return rollingBack === "errored" ? encodeError(new WorkflowTimeoutError(name, id, timeout ?? 0)) : null;
  }

  #createRollback(error: string | null): Rollback {
    return new Rollback({ instance: this.#instance, error, steps: this.#undoable, clock: this.#host.clock });
  }
}

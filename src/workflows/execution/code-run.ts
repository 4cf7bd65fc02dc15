import { AttemptAbortedError, type InvalidInputError, UnreadableValueError } from "../../errors.ts";
import type {
  ClaimedInstance,
  InstanceOutcome,
  JournalEntry,
  NewEntry,
} from "../../store/instances/instance-records.ts";
import { tame } from "../../values/index.ts";
import { Rollback } from "../rollback/rollback.ts";
import { UndoableSteps } from "../rollback/undoable-steps.ts";
import type { Bodies } from "./bodies.ts";
import type { Endings } from "./endings.ts";
import type { ExecutionHost } from "./execution-host.ts";
import type { OpenWaits } from "./open-waits.ts";
import { RunJournal, type StepRecord } from "./run-journal.ts";
import { type RunResult, toFinalOutcome, toRunResult } from "./run-result.ts";
import { StartOrder } from "./start-order.ts";
import { BodyCall, type OpenWait, type StepCall } from "./step-call.ts";
import { StepFailures } from "./step-failures.ts";
import { pathOf, type StepIdentity } from "./step-path.ts";
import { runOutside } from "./step-scope.ts";
import { tellOfUnreached } from "./unreached-steps.ts";

/** The parts of an execution that the code's calls go to. */
interface CodeSurroundings {
  readonly instance: ClaimedInstance;
  readonly host: ExecutionHost;
  readonly endings: Endings;
  readonly bodies: Bodies;
  readonly waits: OpenWaits;
  /** The code has done something. */
  goOn(): void;
  /** A step was called that had ended before this execution. */
  foundEnded(call: StepCall): void;
  /** What is stored of the run can't be read. */
  fail(error: unknown): void;
  /** Why no further step can be remembered; null while there is room. */
  refusal(): Error | null;
}

/**
 * The user's function in one execution: the steps that it calls, what is stored of them, and what it comes to. If it fails after
 * steps that have a rollback, what it comes to is the end of the rollback.
 */
export class CodeRun {
  readonly #parts: CodeSurroundings;
  readonly #undoable = new UndoableSteps();
  /** Steps inside of other steps, by their paths. */
  readonly #inner = new Map<string, StepCall>();
  /** What each call of a step tells. */
  readonly #told = { starts: new StartOrder(), failures: new StepFailures() };
  #journal = new RunJournal();
  /** Until it is called. */
  #main: (() => Promise<unknown>) | undefined;
  /** Of the code; while it is rolled back, of the rollback. */
  #result: RunResult | undefined;
  #rollback: Rollback | null = null;
  #refused = false;

  constructor(parts: CodeSurroundings) {
    this.#parts = parts;
  }

  get result(): RunResult | undefined {
    return this.#result;
  }

  /** Given while the run is rolled back. */
  get rollback(): Rollback | null {
    return this.#rollback;
  }

  /** The failures of steps that the code was told of. */
  get failures(): StepFailures {
    return this.#told.failures;
  }

  /** The place, in the order of starts, of a step that was called and has no entry yet. */
  placeOf(path: string): number | null {
    return this.#told.starts.placeOf(path);
  }

  /** What is stored of the run. */
  load(entries: readonly JournalEntry[]): void {
    this.#journal = new RunJournal(entries);
    this.#undoable.load(this.#journal);
    this.#told.starts.load(this.#journal.latestStart);
  }

  /**
   * Calls the function; with `failure` it isn't called, and the run has failed. Gives what is to be written: where others want it
   * to be rolled back, whatever a former owner still writes collides with our first entry.
   */
  begin(main: () => Promise<unknown>, failure: Error | null): NewEntry[] {
    const { instance } = this.#parts;
    const { rollingBack } = this.#journal;
    const entries: NewEntry[] = [];
    this.#main = main;
    if (instance.rollingBack !== null) {
      this.#rollback = this.#createRollback(rollingBack?.value ?? null);
      if (rollingBack === null) entries.push(Rollback.entry(instance, null));
    }
    if (failure === null) this.#callMain();
    else this.#result = { error: failure };
    return entries;
  }

  /**
   * Registers a call, and sees to it that it ends: as it did before, or for the first time. A step inside of another that is
   * tried again is the same step: it isn't run again. While the run is rolled back, only stored endings are delivered.
   */
  enter(
    step: StepIdentity,
    aliases: readonly string[],
    create: (record: StepRecord | null) => StepCall & OpenWait,
  ): Promise<unknown> {
    const path = step.parent === null ? null : pathOf(step);
    const known = path === null ? undefined : this.#inner.get(path);
    if (known !== undefined) {
      known.tellAgain();
      return known.promise;
    }
    const record = this.#journal.find(step, aliases);
    const refusal = record === null ? this.#parts.refusal() : null;
    if (refusal !== null) throw refusal;
    const call = create(record);
    call.surroundings = this.#told;
    this.#told.starts.called(call);
    if (path !== null) this.#inner.set(path, call);
    if (call.record !== null) call.record.reached = true;
    if (call instanceof BodyCall) this.#undoable.called(call, aliases);
    const ending = call.record?.ending ?? null;
    if (this.#rollback !== null && (ending === null || this.#rollback.undoing)) this.#rollback.strand();
    else if (ending !== null) this.#deliverAgain(call, ending);
    else this.#await(call);
    this.#parts.goOn();
    return call.promise;
  }

  /** These are about to begin, and can be taken back from now on. */
  began(calls: readonly BodyCall[]): void {
    for (const call of calls) this.#undoable.began(call);
  }

  /** What becomes of the instance when the result is written. One that has failed may have to be rolled back first. */
  finalOutcome(result: RunResult): { readonly outcome: InstanceOutcome; readonly entries: NewEntry[] } {
    if (this.#rollback !== null) {
      return { outcome: this.#rollback.outcome(result), entries: this.#rollback.lastEntries };
    }
    const outcome = toFinalOutcome(result);
    if (outcome.kind === "completed" || this.#undoable.size === 0) return { outcome, entries: [] };
    const { error } = outcome;
    return { outcome: { kind: "rollingBack", error }, entries: [Rollback.entry(this.#parts.instance, error)] };
  }

  /** What it came to can't be stored: it comes to this error instead. Gives false if that was so before. */
  refuse(error: InvalidInputError): boolean {
    if (this.#refused || this.#result === undefined) return false;
    this.#refused = true;
    this.#result = { error };
    return true;
  }

  /** Its failure is stored: nothing of its code ends or begins any more. */
  beginRollback(error: string): void {
    const { bodies, waits, endings } = this.#parts;
    this.tellOfUnreached();
    const message = "The workflow has failed, and is rolled back: nobody waits for this step.";
    if (bodies.running > 0) bodies.drop(new AttemptAbortedError("workflow.finished", message));
    bodies.forget();
    waits.clear();
    endings.clear();
    this.#result = undefined;
    this.#rollback = this.#createRollback(error);
    if (this.#main === undefined) this.#rollback.settled = true;
    else this.#callMain();
  }

  /** Takes the steps back, if it is time. */
  undoIfReady(): void {
    const rollback = this.#rollback;
    if (rollback === null || !rollback.ready) return;
    const end = (result: RunResult) => {
      this.#result = result;
      this.#parts.goOn();
    };
    const undone = rollback.undo((call) => {
      this.#await(call);
      this.#parts.goOn();
      return call.promise;
    });
    undone.then(
      () => end({ output: "null" }),
      (error: unknown) => (error instanceof UnreadableValueError ? this.#parts.fail(error) : end({ error })),
    );
  }

  /** Says which steps the run had before that weren't called. A rollback doesn't need all of them. */
  tellOfUnreached(): void {
    if (this.#rollback === null) tellOfUnreached(this.#journal, this.#parts.instance, this.#parts.host);
  }

  #deliverAgain(call: StepCall, ending: JournalEntry): void {
    this.#parts.endings.addStored(call, ending);
    this.#parts.foundEnded(call);
  }

  /** It begins, or ends, when it is time. */
  #await(call: StepCall & OpenWait): void {
    if (call instanceof BodyCall && call.dueAt === 0) this.#parts.bodies.add(call);
    else this.#parts.waits.add(call);
  }

  #callMain(): void {
    const main = this.#main as () => Promise<unknown>;
    this.#main = undefined;
    const end = (result: RunResult) => {
      if (this.#rollback === null) this.#result ??= result;
      else this.#rollback.settled = true;
      this.#parts.goOn();
    };
    runOutside(main).then(
      (value) => end(toRunResult(value, this.#parts.host.limits.maxResultBytes)),
      (thrown: unknown) => {
        const error = tame(thrown);
        end({ error, failedSteps: this.failures.behind(error, null) });
      },
    );
  }

  #createRollback(error: string | null): Rollback {
    const { instance, host } = this.#parts;
    return new Rollback({ instance, error, steps: this.#undoable, clock: host.clock });
  }
}

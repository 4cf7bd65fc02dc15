import type { Clock } from "../../clock.ts";
import { PerdureError, UnreadableValueError } from "../../errors.ts";
import type { InstanceName, InstanceOutcome, NewEntry } from "../../store/instances/instance-records.ts";
import { decodeValue, encodeError } from "../../values/index.ts";
import type { RunResult } from "../execution/outcomes.ts";
import { describeStep, type StepIdentity } from "../execution/steps/step-path.ts";
import { outputOf, RollbackCall, rollbackFailure } from "./rollback-call.ts";
import type { UndoableStep, UndoableSteps } from "./undoable-steps.ts";

/** How long we wait for code that neither calls nor gets anything, while it waits for steps that won't end any more. */
const PATIENCE_MS = 5000;

interface RollbackSituation {
  readonly instance: InstanceName;
  /** The error of the workflow, as it is stored; null if it is to be terminated. */
  readonly error: string | null;
  readonly steps: UndoableSteps;
  readonly clock: Clock;
}

/**
 * A run that is rolled back. First the code runs to where it had come, which only registers the rollbacks of its steps: stored
 * endings are delivered, and nothing else ends or begins. Then the steps are taken back one by one, the last to have begun
 * first. One that fails for good ends the rollback.
 */
export class Rollback {
  /** Whether the code has ended: it calls no further steps. */
  settled = false;
  readonly #situation: RollbackSituation;
  #undoing = false;
  /** Says which step's rollback isn't known. */
  #missing: NewEntry | null = null;
  /** How many calls won't end any more. */
  #unending = 0;
  #lastActivity: number;

  constructor(situation: RollbackSituation) {
    this.#situation = situation;
    this.#lastActivity = situation.clock.monotonic();
  }

  get undoing(): boolean {
    return this.#undoing;
  }

  /** The entry that says that it has begun. */
  static entry({ name }: InstanceName, error: string | null): NewEntry {
    const nothing = { attempt: 0, dueAt: null, event: null, parent: null };
    return { kind: "rollingBack", type: "rollback", name, count: 1, value: error, ...nothing };
  }

  /** The code has got or called something. */
  noteActivity(): void {
    this.#lastActivity = this.#situation.clock.monotonic();
  }

  /** The code has called a step that won't end any more. */
  noteUnending(): void {
    this.#unending++;
    this.noteActivity();
  }

  /** Whether all rollbacks are known, or those that aren't will never be. */
  get ready(): boolean {
    if (this.#undoing) return false;
    return this.settled || this.#situation.steps.complete || this.patience <= 0;
  }

  /** Milliseconds until we wait for the code no longer. Infinity while it may be waiting for something that isn't a step. */
  get patience(): number {
    if (this.#undoing || this.#unending === 0) return Number.POSITIVE_INFINITY;
    return this.#lastActivity + PATIENCE_MS - this.#situation.clock.monotonic();
  }

  /**
   * Takes the steps back: gives the call of each rollback, which must have succeeded before the next is asked for. Values that
   * a handler is given must be readable before it is called: throws UnreadableValueError otherwise, which isn't the handler's
   * failure.
   */
  *undo(): Generator<RollbackCall, void> {
    this.#undoing = true;
    const { steps, error, instance } = this.#situation;
    if (error !== null) decodeValue(error);
    for (const step of steps.inReverse()) {
      const ending = step.record?.undo?.ending ?? null;
      if (ending?.kind === "rolledBack") continue;
      if (ending !== null) throw decodeValue(ending.value as string); // it had failed for good
      if (!isKnown(step)) throw this.#miss(step.step);
      outputOf(step.call);
      yield new RollbackCall(step, () => rollbackFailure(error, instance));
    }
  }

  /** Takes the steps back one by one, each with `add`, and gives what came of it. Rejects if a value can't be read. */
  async undoEach(add: (call: RollbackCall) => void): Promise<RunResult> {
    try {
      for (const call of this.undo()) {
        add(call);
        await call.promise;
      }
      return { output: "null" };
    } catch (error) {
      if (error instanceof UnreadableValueError) throw error;
      return { error };
    }
  }

  /** Entries to write with the outcome: a rollback that was never tried has none yet. */
  get lastEntries(): NewEntry[] {
    return this.#missing === null ? [] : [this.#missing];
  }

  /** What becomes of the instance when the rollback is over. */
  outcome(result: RunResult): Extract<InstanceOutcome, { kind: "errored" | "terminated" }> {
    const { error, steps } = this.#situation;
    const rollback = steps.size === 0 ? null : describeRollback(result);
    return error === null ? { kind: "terminated", rollback } : { kind: "errored", error, rollback };
  }

  #miss(step: StepIdentity): PerdureError {
    const error = rollbackMissing(step);
    this.#missing = missingEntry(step, error);
    return error;
  }
}

function rollbackMissing(step: StepIdentity): PerdureError {
  return new PerdureError(
    "rollback.missing",
    `The step ${describeStep(step)} had a rollback when it began, but this code didn't give it one: it wasn't called, or has none any more.`,
  );
}

function missingEntry({ type, name, count, parent }: StepIdentity, error: Error): NewEntry {
  const value = encodeError(error);
  return { kind: "rollbackFailed", type, name, count, parent, attempt: 0, value, dueAt: null, event: null };
}

function isKnown(step: UndoableStep): step is UndoableStep & { call: NonNullable<UndoableStep["call"]> } {
  return step.call !== null && step.call.rollback !== null;
}

function describeRollback(result: RunResult): string {
  return "error" in result ? `{"outcome":"failed","error":${encodeError(result.error)}}` : '{"outcome":"complete"}';
}

import type { Clock } from "../../clock.ts";
import type {
  InstanceName,
  InstanceOutcome,
  NewEntry,
  RollbackReason,
} from "../../store/instances/instance-records.ts";
import { decodeValue, encodeError } from "../../values/index.ts";
import type { RunResult } from "../execution/run-result.ts";
import { rollbackMissing } from "../execution/step-ending.ts";
import type { StepIdentity } from "../execution/step-path.ts";
import { outputOf, RollbackCall, rollbackFailure } from "./rollback-call.ts";
import type { UndoableStep, UndoableSteps } from "./undoable-steps.ts";

/** For so long we wait for code that neither calls nor gets anything, while it waits for steps that won't end any more. */
const PATIENCE_MS = 5000;

interface RollbackSituation {
  readonly instance: InstanceName;
  /** What the workflow threw, as it is stored; null if it is to be terminated. */
  readonly error: string | null;
  readonly steps: UndoableSteps;
  readonly clock: Clock;
}

/**
 * A run that is rolled back. First the code is run to where it had come, which only registers the rollbacks of its steps: stored
 * endings are delivered, and nothing else ends or begins. Then the steps are taken back one by one, the last to have begun first.
 * One that fails for good ends it.
 */
export class Rollback {
  /** Whether the code has ended: it calls no further steps. */
  settled = false;
  readonly #situation: RollbackSituation;
  #undoing = false;
  /** Says which step's rollback isn't known. */
  #missing: NewEntry | null = null;
  /** Calls that won't end any more. */
  #stranded = 0;
  #lastSign: number;

  constructor(situation: RollbackSituation) {
    this.#situation = situation;
    this.#lastSign = situation.clock.monotonic();
  }

  get reason(): RollbackReason {
    return this.#situation.error === null ? "terminated" : "errored";
  }

  get undoing(): boolean {
    return this.#undoing;
  }

  /** What the workflow threw, as it is stored. */
  get error(): string | null {
    return this.#situation.error;
  }

  /** The entry that says that it has begun. */
  static entry({ name }: InstanceName, error: string | null): NewEntry {
    const nothing = { attempt: 0, dueAt: null, event: null, parent: null };
    return { kind: "rollingBack", type: "rollback", name, count: 1, value: error, ...nothing };
  }

  /** The code has got or called something. */
  sign(): void {
    this.#lastSign = this.#situation.clock.monotonic();
  }

  /** A step was called that won't end any more. */
  strand(): void {
    this.#stranded++;
    this.sign();
  }

  /** Whether all rollbacks are known, or those that aren't will never be. */
  get ready(): boolean {
    if (this.#undoing) return false;
    return this.settled || this.#situation.steps.complete || this.patience <= 0;
  }

  /** Milliseconds until we wait for the code no longer. Infinity while it may be waiting for something that isn't a step. */
  get patience(): number {
    if (this.#undoing || this.#stranded === 0) return Number.POSITIVE_INFINITY;
    return this.#lastSign + PATIENCE_MS - this.#situation.clock.monotonic();
  }

  /**
   * Takes the steps back. `run` tries one rollback, as a step is tried. What a handler is told must be readable before it is called:
   * rejects with UnreadableValueError otherwise, which is no failure of the handler's.
   */
  async undo(run: (call: RollbackCall) => Promise<unknown>): Promise<void> {
    this.#undoing = true;
    const { steps, error, instance } = this.#situation;
    if (error !== null) decodeValue(error);
    for (const step of steps.inReverse()) {
      const ending = step.record?.undo?.ending ?? null;
      if (ending?.kind === "rolledBack") continue;
      if (ending !== null) throw decodeValue(ending.value as string); // it had failed for good
      if (!isKnown(step)) throw this.#miss(step.step);
      outputOf(step.call);
      await run(new RollbackCall(step, () => rollbackFailure(error, instance)));
    }
  }

  /** What is to be written with the outcome: a rollback that was never tried has no entry yet. */
  get lastEntries(): NewEntry[] {
    return this.#missing === null ? [] : [this.#missing];
  }

  /** What becomes of the instance, when it is over. */
  outcome(result: RunResult): Extract<InstanceOutcome, { kind: "errored" | "terminated" }> {
    const { error, steps } = this.#situation;
    const rollback = steps.size === 0 ? null : describeRollback(result);
    return error === null ? { kind: "terminated", rollback } : { kind: "errored", error, rollback };
  }

  #miss(step: StepIdentity): Error {
    const error = rollbackMissing(step);
    this.#missing = missingEntry(step, error);
    return error;
  }
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

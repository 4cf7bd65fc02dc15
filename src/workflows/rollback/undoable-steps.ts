import type { RunJournal, StepRecord } from "../execution/run-journal.ts";
import type { BodyCall } from "../execution/steps/step-call.ts";
import { pathOf, type StepIdentity } from "../execution/steps/step-path.ts";

/** A step that has begun, and had a rollback then. */
export interface UndoableStep {
  /** As it is named in the journal. */
  readonly step: StepIdentity;
  /** Its record, from before this execution. */
  readonly record: StepRecord | null;
  /** The code's call of it; null until it comes. */
  call: BodyCall | null;
}

/** The steps of a run that can be taken back, in the order in which they began. */
export class UndoableSteps {
  /** Created by the first: most workflows have no rollbacks. */
  #steps: Map<string, UndoableStep> | undefined;

  /** Those that began before this execution. */
  load(journal: RunJournal): void {
    for (const record of journal.undoable) this.#add({ step: record, record, call: null });
  }

  get size(): number {
    return this.#steps?.size ?? 0;
  }

  /** Whether all of them were called, so that their rollbacks are known. */
  get complete(): boolean {
    for (const { call } of this.#steps?.values() ?? []) if (call === null) return false;
    return true;
  }

  /** The last to have begun comes first. */
  inReverse(): UndoableStep[] {
    return [...(this.#steps?.values() ?? [])].reverse();
  }

  /** The code calls a step that may have begun before, under its name or an older one. */
  called(call: BodyCall, aliases: readonly string[]): void {
    if (this.#steps === undefined) return;
    for (const name of [call.name, ...aliases]) {
      const step = this.#steps.get(pathOf({ type: call.type, name, count: call.count, parent: call.parent }));
      if (step === undefined) continue;
      step.call = call;
      call.undoable = true;
      return;
    }
  }

  /** It is about to begin for the first time, and that is about to be written. */
  began(call: BodyCall): void {
    this.#add({ step: call, record: call.record, call });
  }

  #add(step: UndoableStep): void {
    this.#steps ??= new Map();
    this.#steps.set(pathOf(step.step), step);
  }
}

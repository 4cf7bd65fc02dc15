import { NonRetryableError, PerdureError, StepInTransactionError, WaitInsideStepError } from "../../../errors.ts";
import { hashText } from "../../../hash.ts";
import type { StepType } from "../../../store/instances/instance-records.ts";
import type { Execution } from "../execution.ts";
import { pathOf, type StepIdentity } from "./step-path.ts";
import { presentScope, StepScope } from "./step-scope.ts";

/** Tells the calls of one run apart, and refuses calls in places where no step can be called. */
export class StepIdentities {
  readonly #execution: Execution;
  /** Of the workflow's own function. */
  readonly #scope = new StepScope(null);

  constructor(execution: Execution) {
    this.#execution = execution;
  }

  /** The code calls a step, even if it is refused: earlier failures aren't what it throws about from now on. */
  goOn(): void {
    const { failures, isOver } = this.#execution.code;
    if (isOver && presentScope(this.#execution)?.undoing !== true) {
      throw new PerdureError(
        "step.after_end",
        "A step was called after the workflow's function had ended: it can't run any more. Await everything that calls steps " +
          "before the function ends.",
      );
    }
    if (failures !== undefined) failures.wentOn((presentScope(this.#execution) ?? this.#scope).parent);
  }

  /** Which call of this type and name it is, where it is made. */
  identify(type: StepType, name: string): StepIdentity {
    const scope = presentScope(this.#execution) ?? this.#scope;
    if (scope.undoing) throw new NonRetryableError("A rollback can't have steps of its own.", "StepInRollbackError");
    if (scope.transacting) throw insideTransaction(name, scope.parentName);
    return { type, name, count: scope.count(type, name), parent: scope.parent };
  }

  /**
   * A wait in a body can't be parked: the body would have to run again from its beginning, with all of its effects. It would
   * use up the step's timeout and keep a slot in the worker, so it is refused.
   */
  identifyWait(type: "sleep" | "waitForEvent" | "token", name: string): StepIdentity {
    const outer = presentScope(this.#execution);
    if (outer === null || outer.parentName === null || outer.undoing || outer.transacting)
      return this.identify(type, name);
    throw new WaitInsideStepError(
      `The ${type === "sleep" ? "sleep" : "wait"} "${name}" is called inside the step "${outer.parentName}", which can't wait: its timeout would ` +
        "continue, and its worker would be kept busy. Call it in the workflow's own function, between two steps.",
    );
  }

  /** Tells a child that this step creates from all others: a text, and an id for it. */
  originOf(step: StepIdentity): { parent: string; id: string } {
    const { ref, run } = this.#execution.lease;
    const inside = step.parent === null ? "" : `${hashText(step.parent)}-`;
    const { name, id } = this.#execution.instance;
    return { parent: JSON.stringify([name, id, ref, run, pathOf(step)]), id: `${ref}-${run}-${inside}${step.count}` };
  }
}

/** It would have to be written before the transaction ends, and the transaction would wait for it. */
function insideTransaction(name: string, outer: string | null): NonRetryableError {
  return new StepInTransactionError(
    `The step "${name}" is called inside the transaction of the step "${outer}", which can't wait for it. Call it before or after.`,
  );
}

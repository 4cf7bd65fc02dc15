import { InvalidInputError } from "../../errors.ts";
import { checkOptions } from "../../options.ts";
import type { WorkflowRollbackHandler, WorkflowStepRollbackOptions } from "../define/step.ts";
import { parseStepConfig, type StepPolicy } from "../execution/steps/step-config.ts";

/** How a step is taken back: its options, checked. */
export interface StepRollback {
  readonly handler: WorkflowRollbackHandler<never, never>;
  readonly policy: StepPolicy;
}

export function parseRollbackOptions(
  options: WorkflowStepRollbackOptions<never, never> | undefined,
  maxStepName: number,
): StepRollback | null {
  if (options === undefined) return null;
  const fields = ["rollback", "rollbackConfig"];
  checkOptions(options, { label: "The rollback of a step", fields, code: "step.invalid" });
  const { rollback, rollbackConfig } = options;
  if (typeof rollback !== "function") throw new InvalidInputError("step.invalid", "rollback must be a function.");
  if (rollbackConfig !== undefined) {
    checkOptions(rollbackConfig, { label: "rollbackConfig", fields: ["retries", "timeout"], code: "step.invalid" });
  }
  return { handler: rollback, policy: parseStepConfig(rollbackConfig, maxStepName) };
}

import type { Duration } from "../../duration.ts";
import type { WorkflowStepConfig, WorkflowStepContext } from "../define/step-options.ts";

/** How often, when and for how long a rollback is tried. The defaults are those of steps. */
export type WorkflowStepRollbackConfig = Pick<WorkflowStepConfig, "retries" | "timeout">;

/** What a rollback is called with. */
export interface WorkflowRollbackContext<Output = unknown, Delay = Duration> {
  /** Of the step; `attempt`, `idempotencyKey` and `signal` are those of the rollback. */
  readonly ctx: WorkflowStepContext<Delay>;
  /** Why it is rolled back: what the workflow threw (as the `cause`, where that is no Error), or a `WorkflowTerminatedError`. */
  readonly error: Error;
  /** What the step gave; undefined where it didn't come to its end. */
  readonly output: Output | undefined;
  /** @deprecated Use `ctx.step`. The name and the count, as in `charge-1`. */
  readonly stepName: string;
}

export type WorkflowRollbackHandler<Output = unknown, Delay = Duration> = (
  context: WorkflowRollbackContext<Output, Delay>,
) => Promise<void>;

/** How a step is taken back when its workflow fails later, or is terminated with `rollback`. */
export interface WorkflowStepRollbackOptions<Output = unknown, Delay = Duration> {
  readonly rollback: WorkflowRollbackHandler<Output, Delay>;
  readonly rollbackConfig?: WorkflowStepRollbackConfig;
}

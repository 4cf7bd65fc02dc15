import type { Duration } from "../../duration.ts";
import type { CreateArguments } from "../instances/create-options.ts";
import type { WorkflowInstance } from "../instances/instance.ts";
import type { WorkflowStepRollbackOptions } from "../rollback/rollback-types.ts";
import type { DelayFunctionConfig, RetryDelay, WorkflowStepConfig, WorkflowStepContext } from "./step-options.ts";
import type { EventPayloads, ReceivedEvent } from "./workflow-event.ts";
import type { AnyWorkflow, ParamsOf, WorkflowEvents, WorkflowOutput } from "./workflow-types.ts";

/**
 * What a workflow does, so that it is remembered. Steps may run in parallel, in loops and inside of each other; identity is the
 * step's type, its name, and which call of that name it is.
 */
export interface WorkflowStep<Events extends EventPayloads = EventPayloads> {
  /**
   * Runs the function and remembers its result: once it is stored it never runs again. Gives a copy of the result, in the first
   * run as afterwards. Throws when no attempts are left, what the last one threw. Its rollback is called if the workflow fails
   * later, or is terminated with `rollback`.
   *
   * @example
   * const charge = await step.do("charge", { retries: { limit: 3 } }, (ctx) => pay(order, ctx.idempotencyKey));
   */
  do<Result>(
    name: string,
    callback: (ctx: WorkflowStepContext) => Result | Promise<Result>,
    rollbackOptions?: WorkflowStepRollbackOptions<Result>,
  ): Promise<Result>;
  do<Result>(
    name: string,
    config: DelayFunctionConfig,
    callback: (ctx: WorkflowStepContext<RetryDelay>) => Result | Promise<Result>,
    rollbackOptions?: WorkflowStepRollbackOptions<Result, RetryDelay>,
  ): Promise<Result>;
  do<Result>(
    name: string,
    config: WorkflowStepConfig,
    callback: (ctx: WorkflowStepContext) => Result | Promise<Result>,
    rollbackOptions?: WorkflowStepRollbackOptions<Result>,
  ): Promise<Result>;

  /** Waits, at most 1 year (365.25 days). A sleeping instance needs no memory and no process. Not inside of another step. */
  sleep(name: string, duration: Duration): Promise<void>;

  sleepUntil(name: string, time: Date | number): Promise<void>;

  /**
   * Waits for an event of this type, first in first out; one that was sent before counts. Throws an `EventTimeoutError` after
   * `timeout` (default: 24 hours). Not inside of another step.
   */
  waitForEvent<Type extends string extends keyof Events ? never : keyof Events & string>(
    name: string,
    options: { readonly type: Type; readonly timeout?: Duration },
  ): Promise<ReceivedEvent<Events[Type]>>;

  /** The same, where the events aren't declared. */
  waitForEvent<Payload>(
    name: string,
    options: { readonly type: string extends keyof Events ? string : never; readonly timeout?: Duration },
  ): Promise<ReceivedEvent<Payload>>;

  /** Creates an instance of another workflow, once. Doesn't wait for it. */
  create<Workflow extends AnyWorkflow>(
    workflow: Workflow | string,
    ...rest: CreateArguments<ParamsOf<Workflow>>
  ): Promise<WorkflowInstance<WorkflowOutput<Workflow>, WorkflowEvents<Workflow>>>;
}

import type { Duration } from "../../duration.ts";
import type { Backoff } from "../../queue/retry-policy.ts";
import type { CreateArguments } from "../instances/create-options.ts";
import type { WorkflowInstance } from "../instances/instance.ts";
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

/** How often and when a step is tried again. Default: `{ limit: 5, delay: "1 second", backoff: "exponential" }`. */
export interface StepRetries {
  /** How many times to try again after the first attempt. */
  readonly limit: number;
  /** The wait before the first retry, or a function that chooses it anew for each; `backoff` applies to both. */
  readonly delay: Duration | RetryDelay;
  /** How it grows: `exponential` doubles it each time, `linear` adds it each time. */
  readonly backoff?: Backoff;
}

/**
 * Chooses the wait before the next attempt, to which the backoff still applies. It has five seconds to answer. If it throws, gives
 * something that isn't a duration, or doesn't answer, the step fails at once with `step.delay_failed`.
 */
export type RetryDelay = (failure: {
  readonly ctx: WorkflowStepContext;
  readonly error: Error;
}) => Duration | Promise<Duration>;

export interface WorkflowStepConfig {
  readonly retries?: Partial<StepRetries>;
  /** For each attempt. Default: 10 minutes. */
  readonly timeout?: Duration;
  /** Names that the step had in older versions of the code: what is stored under one of them is its result. */
  readonly aliases?: readonly string[];
  /** `keep`: what the step emits stays in the history. Otherwise it is dropped about half a minute after the step's end. */
  readonly progress?: "keep";
  /** `output`: people aren't shown what the step gives, in its history as in its events. The workflow's own code is. */
  readonly sensitive?: "output";
}

/** A config whose delay is a function. */
type DelayFunctionConfig = Omit<WorkflowStepConfig, "retries"> & {
  readonly retries: Omit<Partial<StepRetries>, "delay"> & { readonly delay: RetryDelay };
};

/** What a step's function is called with. A copy: changing it has no effect. `Delay` tells whether a function chooses the delays. */
export interface WorkflowStepContext<Delay = Duration> {
  /** `count` is 1 for the first call of this name in a run, 2 for the second, and so on. */
  readonly step: { readonly name: string; readonly count: number };
  /** Counted from 1. */
  readonly attempt: number;
  /** Durations are in milliseconds. */
  readonly config: {
    readonly retries: Omit<StepRetries, "delay"> & (Delay extends RetryDelay ? unknown : { readonly delay: number });
    readonly timeout: number;
    readonly sensitive?: "output";
  };
  /** The same for all attempts at this step of this run, and for no other. Pass it on to services that know such keys. */
  readonly idempotencyKey: string;
  /** Aborted when the attempt has timed out, or when the instance was terminated, restarted, or taken over by another process. */
  readonly signal: AbortSignal;
  /**
   * Tells how far it has come to whoever follows the instance: at once, in order, and stored like everything else. Resolves when
   * it is stored. There is no need to wait for it: what is emitted before the step's end is stored with that end. Rejects with `progress.refused` when the attempt has ended.
   */
  emit(value: unknown): Promise<void>;
}

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

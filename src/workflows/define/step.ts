import type { Duration } from "../../duration.ts";
import type { HookDefinition } from "../../hooks/define-hook.ts";
import type { TriggerOptions } from "../../hooks/trigger.ts";
import type { TriggeredHook } from "../../hooks/write-triggers.ts";
import type { OwnedTransaction } from "../../queue/owned-transaction.ts";
import type { Backoff } from "../../queue/retry-policy.ts";
import type { Isolation } from "../../store/engine.ts";
import type { ChildArguments } from "../instances/create/create-options.ts";
import type { EventToSend, ResultOptions, WorkflowInstance } from "../instances/instance.ts";
import type { StepToken } from "../tokens/step-token.ts";
import type { EventPayloads, ReceivedEvent } from "./workflow-event.ts";
import type { AnyWorkflow, ParamsOf, WorkflowEvents, WorkflowOutput } from "./workflow-types.ts";

declare const declared: unique symbol;
/** No text is one. The error for an undeclared event names the declared ones beside it. */
interface DeclaredEvent {
  readonly [declared]: never;
}

/**
 * The durable operations of a workflow. Steps can run in parallel, in loops and inside each other. A step is identified by its
 * type, its name, and a count: the nth call with that name.
 */
export interface WorkflowStep<Events extends EventPayloads = EventPayloads> {
  /**
   * Runs the function and stores its result: once stored, the function doesn't run again. Returns a copy of the result, in the
   * first execution as in later ones. When no attempts are left, throws the error of the last one. The rollback runs if the
   * workflow fails later, or is terminated with `rollback`.
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

  /**
   * Runs the function in a transaction that is committed together with the step: what it writes is written exactly once,
   * whatever fails. The function is called again if the database couldn't serialize the transaction, which isn't another
   * attempt. Not allowed inside another transaction, and no step may be called in it.
   *
   * @example
   * await step.transaction("book", (tx) => tx.sql`insert into bookings (id, seat) values (${id}, ${seat})`);
   */
  transaction<Result, Client = unknown>(
    name: string,
    callback: (tx: OwnedTransaction<Client>, ctx: WorkflowStepContext) => Result | Promise<Result>,
    rollbackOptions?: WorkflowStepRollbackOptions<Result>,
  ): Promise<Result>;
  transaction<Result, Client = unknown>(
    name: string,
    config: TransactionStepConfig,
    callback: (tx: OwnedTransaction<Client>, ctx: WorkflowStepContext) => Result | Promise<Result>,
    rollbackOptions?: WorkflowStepRollbackOptions<Result>,
  ): Promise<Result>;

  /**
   * Triggers a hook, once, however often the workflow is replayed: it is written together with the step. Takes the hook as it
   * was defined, also one of another fragment in the same database, or its name.
   *
   * @example
   * await step.trigger(sendMail, { to: order.mail });
   */
  trigger<Input>(
    hook: HookDefinition<Input, never>,
    ...rest: undefined extends Input
      ? [payload?: Input, options?: TriggerOptions]
      : [payload: Input, options?: TriggerOptions]
  ): Promise<TriggeredHook>;
  trigger(hook: string, payload?: unknown, options?: TriggerOptions): Promise<TriggeredHook>;

  /**
   * Sends an event to an instance, once, however often the workflow is replayed: it is written together with the step. Throws
   * if the instance doesn't exist, or has ended.
   *
   * @example
   * await step.sendEvent({ workflow: shipping, id: order.id }, { type: "paid", payload: { by: "card" } });
   */
  sendEvent<Workflow extends AnyWorkflow, Type extends keyof WorkflowEvents<Workflow> & string>(
    target: { readonly workflow: Workflow | string; readonly id: string },
    event: EventToSend<Type, WorkflowEvents<Workflow>[Type]>,
  ): Promise<void>;

  /**
   * Sleeps for at most 1 year (365.25 days). A sleeping instance needs no memory and no process. Not allowed inside another
   * step.
   */
  sleep(name: string, duration: Duration, options?: WaitOptions): Promise<void>;

  sleepUntil(name: string, time: Date | number, options?: WaitOptions): Promise<void>;

  /**
   * Waits for an event of this type. Events are received in the order in which they were sent, including those sent before the
   * wait. Throws an `EventTimeoutError` after `timeout` (default: 24 hours). Not allowed inside another step.
   */
  waitForEvent<Type extends string extends keyof Events ? never : keyof Events & string>(
    name: string,
    options: WaitOptions & { readonly type: Type; readonly timeout?: Duration },
  ): Promise<ReceivedEvent<Events[Type]>>;

  /** The same, for workflows without declared events. */
  waitForEvent<Payload>(
    name: string,
    options: WaitOptions & {
      readonly type: string extends keyof Events ? string : keyof Events & string & DeclaredEvent;
      readonly timeout?: Duration;
    },
  ): Promise<ReceivedEvent<Payload>>;

  /**
   * Begins to wait for a caller outside the application, and returns a token for it: its holder can end this wait, once,
   * with a payload, and do nothing else. No process stores the token. Needs `tokens: { secret }`. The timeout is that of
   * `waitForEvent`.
   *
   * @example
   * const token = await step.createToken<{ approved: boolean }>("approval", { timeout: "3 days" });
   * await step.do("ask", () => mailer.send(boss, `Approve: ${token.url}`));
   * const { approved } = await token.result();
   */
  createToken<Payload = unknown>(
    name: string,
    options?: WaitOptions & { readonly timeout?: Duration },
  ): Promise<StepToken<Payload>>;

  /**
   * Waits for the end of an instance and returns its output, as `child.result()` does. The wait is stored, and needs no process
   * and no slot. Not allowed inside another step.
   *
   * @example
   * const child = await step.create(receipt, { params: { charge } });
   * const printed = await step.result(child, { timeout: "1 day" });
   */
  result<Output>(child: WorkflowInstance<Output>, options?: ResultOptions): Promise<Output>;

  /**
   * Creates an instance of another workflow, once, without waiting for its end. With `onParentEnd: "terminate"` it ends with
   * this instance.
   */
  create<Workflow extends AnyWorkflow>(
    workflow: Workflow | string,
    ...rest: ChildArguments<ParamsOf<Workflow>>
  ): Promise<WorkflowInstance<WorkflowOutput<Workflow>, WorkflowEvents<Workflow>>>;
}

/** Options of every wait. */
export interface WaitOptions {
  /**
   * Abandons the wait when it is aborted: the wait throws the signal's reason, and takes no event any more. That is stored, so
   * a replay abandons it at the same place.
   */
  readonly signal?: AbortSignal;
}

/** How many times, and when, a step is retried. Default: `{ limit: 5, delay: "1 second", backoff: "exponential" }`. */
export interface StepRetries {
  /** The number of retries after the first attempt. */
  readonly limit: number;
  /** The delay before the first retry, or a function that chooses the delay before each; `backoff` applies to both. */
  readonly delay: Duration | RetryDelay;
  /** How the delay grows: `exponential` doubles it each time, `linear` adds it each time. */
  readonly backoff?: Backoff;
}

/**
 * Chooses the delay before the next attempt, to which the backoff still applies. It must answer within five seconds. If it
 * throws, returns something other than a duration, or doesn't answer, the step fails at once with `step.delay_failed`.
 */
export type RetryDelay = (failure: {
  readonly ctx: WorkflowStepContext;
  readonly error: Error;
}) => Duration | Promise<Duration>;

export interface WorkflowStepConfig {
  readonly retries?: Partial<StepRetries>;
  /** The time limit of each attempt. Default: 10 minutes. */
  readonly timeout?: Duration;
  /** Names that the step had in older versions of the code: a result stored under one of them is its result. */
  readonly aliases?: readonly string[];
  /**
   * `keep`: progress that the step emits stays in the history. Otherwise it is deleted about half a minute after the step's
   * end.
   */
  readonly progress?: "keep";
  /** `output`: the step's result is hidden in its history and events. The workflow's code still receives it. */
  readonly sensitive?: "output";
}

/** The config of a step with a transaction. `timeout` is also how long the transaction may take. Default: 10 seconds. */
export interface TransactionStepConfig extends WorkflowStepConfig {
  /** Default: that of the database. SQLite and Durable Objects run every transaction as if it were alone. */
  readonly isolation?: Isolation;
}

/** A config whose delay is a function. */
type DelayFunctionConfig = Omit<WorkflowStepConfig, "retries"> & {
  readonly retries: Omit<Partial<StepRetries>, "delay"> & { readonly delay: RetryDelay };
};

/**
 * The argument of a step's body. It is a copy: changing it has no effect. `Delay` says whether a function chooses the delays.
 */
export interface WorkflowStepContext<Delay = Duration> {
  /** `count` is 1 for the first call with this name in a run, 2 for the second, and so on. */
  readonly step: { readonly name: string; readonly count: number };
  /** Counted from 1. */
  readonly attempt: number;
  /** Durations are in milliseconds. */
  readonly config: {
    readonly retries: Omit<StepRetries, "delay"> & (Delay extends RetryDelay ? unknown : { readonly delay: number });
    readonly timeout: number;
    readonly sensitive?: "output";
  };
  /**
   * The same for all attempts at this step of this run, and different for every other step. Pass it to services that support
   * idempotency keys.
   */
  readonly idempotencyKey: string;
  /** Aborted when the attempt times out, or when the instance is terminated, restarted, or taken over by another process. */
  readonly signal: AbortSignal;
  /**
   * Emits progress to subscribers of the instance: at once and in order. Resolves when it is stored; there is no need to await
   * it, because progress that is emitted before the step's end is stored with that end. Rejects with `progress.refused` after
   * the end of the attempt.
   */
  emit(value: unknown): Promise<void>;
}

/** The retries and the timeout of a rollback. The defaults are those of steps. */
export type WorkflowStepRollbackConfig = Pick<WorkflowStepConfig, "retries" | "timeout">;

/** The argument of a rollback handler. */
export interface WorkflowRollbackContext<Output = unknown, Delay = Duration> {
  /** The context of the step, with the `attempt`, `idempotencyKey` and `signal` of the rollback. */
  readonly ctx: WorkflowStepContext<Delay>;
  /** The reason: the error that the workflow threw (as the `cause`, if it isn't an Error), or a `WorkflowTerminatedError`. */
  readonly error: Error;
  /** The step's result; undefined if the step didn't complete. */
  readonly output: Output | undefined;
  /** @deprecated Use `ctx.step`. The name and the count, as in `charge-1`. */
  readonly stepName: string;
}

export type WorkflowRollbackHandler<Output = unknown, Delay = Duration> = (
  context: WorkflowRollbackContext<Output, Delay>,
) => Promise<void>;

/** How a step is rolled back when its workflow fails later, or is terminated with `rollback`. */
export interface WorkflowStepRollbackOptions<Output = unknown, Delay = Duration> {
  readonly rollback: WorkflowRollbackHandler<Output, Delay>;
  readonly rollbackConfig?: WorkflowStepRollbackConfig;
}

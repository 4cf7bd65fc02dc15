import type { Duration } from "../../duration.ts";
import type { InstanceStatus } from "../../store/instances/instance-records.ts";
import type { ErrorDescription, Unreadable } from "../../values/index.ts";
import type { Labels } from "../define/labels.ts";
import type { EventPayloads } from "../define/workflow-event.ts";
import type { RollbackOutcome } from "../rollback/rollback-outcome.ts";
import type {
  StandardEventType,
  SubscribeOptions,
  WorkflowInstanceEventType,
  WorkflowInstanceSubscription,
} from "../views/instance-event.ts";
import type { HistoryOptions, HistoryPage } from "./history-page.ts";
import type { RestartPoint } from "./kept-entries.ts";

/** The state of an instance. */
export interface InstanceState<Output = unknown> {
  readonly status: InstanceStatus;
  /** Where it is errored. `code` says which of Perdure's own errors it is, such as `step.timeout`. */
  readonly error?: ErrorDescription;
  /** What became of its rollback; not there if nothing was rolled back. `error` is why it failed. */
  readonly rollback?: RollbackOutcome;
  /** Where it is complete. */
  readonly output?: Output;
  /** Counted from 1; a restart begins the next. */
  readonly run: number;
  /** What it was labelled with when it was created. */
  readonly labels: Labels;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
}

export interface InstanceSummary extends InstanceState {
  readonly id: string;
  readonly workflowName: string;
  /** Instead of its output, its error and its rollback, where the codec can't read them. */
  readonly unreadable?: Unreadable;
}

export interface SentEvent<Type extends string, Payload> {
  readonly type: Type;
  readonly payload?: Payload;
  /** An id of your own: an event with it is delivered once, however often it is sent. */
  readonly id?: string;
}

/** One instance of a workflow. */
export interface WorkflowInstance<Output = unknown, Events extends EventPayloads = EventPayloads> {
  readonly id: string;
  readonly workflowName: string;
  status(): Promise<InstanceState<Output>>;
  /**
   * Waits for the end, and gives the output. Throws `WorkflowFailedError`, whose cause is what the workflow threw, or
   * `WorkflowTerminatedError`; and `result.timeout` if it takes longer than `timeout`.
   */
  result(options?: { readonly timeout?: Duration; readonly signal?: AbortSignal }): Promise<Output>;
  /** Sends an event, whether or not a step waits for it yet. Resolves when it is stored. Refused when the instance is finished. */
  sendEvent<Type extends keyof Events & string>(event: SentEvent<Type, Events[Type]>): Promise<void>;
  /** Lets running steps end and begins no others. Does nothing where it is paused already. */
  pause(): Promise<void>;
  /** Goes on. Timers went on while it was paused: what has come due meanwhile happens now. Does nothing where it isn't paused. */
  resume(): Promise<void>;
  /**
   * Ends it. Running steps are told by their signals, and their results are dropped. With `rollback`, steps that have a rollback
   * are taken back first, in any process; without, a rollback that is under way ends, too.
   */
  terminate(options?: { readonly rollback?: boolean }): Promise<void>;
  /**
   * Begins anew with the same params, whatever its state. Earlier runs stay in the history; events that wait are dropped. With
   * `from`, what began before that step and has ended keeps its results.
   */
  restart(options?: { readonly from?: RestartPoint }): Promise<void>;
  /**
   * Where it is errored: begins a run that keeps the results of all steps but those whose failures ended it, which are tried again
   * with fresh attempts. Events that no kept step has received stay.
   */
  retryFailedStep(): Promise<void>;
  /** Deletes it with its history, whatever its state. */
  delete(): Promise<void>;
  /** One page of what happened at its steps, in all runs. */
  history(options?: HistoryOptions): Promise<HistoryPage>;
  /**
   * What happens to it, as it happens, and what has happened since its run began or since the cursor. Ends after the event that
   * ends the run.
   *
   * @example
   * for await (const event of await instance.subscribe({ filter: ["step_completed"] })) console.log(event.stepName);
   */
  subscribe<const Type extends WorkflowInstanceEventType = StandardEventType>(
    options?: SubscribeOptions<Type>,
  ): Promise<WorkflowInstanceSubscription<Type>>;
}

import type { Duration } from "../../duration.ts";
import type { Explanation } from "../../monitoring/explanation.ts";
import type { InstanceStatus } from "../../store/instances/instance-records.ts";
import type { ErrorDescription, Unreadable } from "../../values/index.ts";
import type { Labels } from "../define/labels.ts";
import type { EventPayloads } from "../define/workflow-event.ts";
import type { RollbackOutcome } from "../rollback/rollback-outcome.ts";
import type { HistoryOptions, HistoryPage } from "../views/history-page.ts";
import type {
  StandardEventType,
  SubscribeOptions,
  WorkflowInstanceEventType,
  WorkflowInstanceSubscription,
} from "../views/instance-event.ts";
import type { RestartPoint } from "./kept-entries.ts";

export interface InstanceParent {
  readonly workflowName: string;
  readonly id: string;
}

/** The schedule that created an instance, and the time for which it fired. */
export interface InstanceSchedule {
  readonly cron: string;
  readonly scheduledTime: Date;
}

/** The keys of the limits that an instance shares with others. `limit` is null where the process lacks the workflow's code. */
export interface InstanceLimits {
  readonly concurrency?: { readonly key: string; readonly limit: number | null };
  readonly rateLimit?: { readonly key: string; readonly limit: number | null };
}

/** An event that no step has received yet. */
export interface UnreceivedEvent {
  readonly type: string;
  /** When it was stored. */
  readonly at: Date;
  readonly payload?: unknown;
  /** In place of the payload, if the payloads are larger than 1 MiB together. */
  readonly omitted?: true;
  /** In place of the payload, if it can't be read. */
  readonly unreadable?: Unreadable;
}

export interface UnreceivedEvents {
  /** Of all. */
  readonly count: number;
  /** The oldest, at most 100. */
  readonly events: readonly UnreceivedEvent[];
}

/** The state of an instance. */
export interface InstanceState<Output = unknown> {
  readonly status: Exclude<InstanceStatus, "diverged">;
  /** The error of an errored instance. `code` names Perdure's own errors, such as `step.timeout`. */
  readonly error?: ErrorDescription;
  /** The outcome of its rollback; absent if nothing was rolled back. `error` says why it failed. */
  readonly rollback?: RollbackOutcome;
  /** The output of a complete instance. */
  readonly output?: Output;
  /**
   * Why it is held, while the code doesn't match its history (`onDivergence: "stop"`). Lists and counts have a status for that.
   */
  readonly diverged?: ErrorDescription;
  /** What it was created with; `"[REDACTED]"` if the workflow's params are sensitive. Lists leave them out. */
  readonly params?: unknown;
  /**
   * Why a stored value can't be read: the params, or one that the instance needs and so waits for code, or a codec, that can
   * read it.
   */
  readonly unreadable?: Unreadable;
  /** The version of the workflow that runs it; absent without. */
  readonly version?: number;
  /** Counted from 1; a restart begins the next. */
  readonly run: number;
  /** The instance whose step created it; absent if a caller did. */
  readonly parent?: InstanceParent;
  /** Absent if no schedule created it. */
  readonly schedule?: InstanceSchedule;
  /** Absent if it is 0. */
  readonly priority?: number;
  /** Absent without. */
  readonly limits?: InstanceLimits;
  /** The labels given at `create`. */
  readonly labels: Labels;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
}

/** An instance in a list. */
export interface InstanceSummary extends Omit<InstanceState, "params"> {
  readonly id: string;
  readonly workflowName: string;
  /** In place of its output, error and rollback, if they can't be read; or the reason why it waits, if its params can't be. */
  readonly unreadable?: Unreadable;
}

export interface SentEvent<Type extends string, Payload> {
  readonly type: Type;
  readonly payload?: Payload;
  /** A caller's id: however many times an event with this id is sent, it is delivered once. */
  readonly id?: string;
}

/** An event whose payload can't be left out. */
export interface LoadedEvent<Type extends string, Payload> extends SentEvent<Type, Payload> {
  readonly payload: Payload;
}

/** An event to send: with its payload, unless its type has none. */
export type EventToSend<Type extends string, Payload> = undefined extends Payload
  ? SentEvent<Type, Payload>
  : LoadedEvent<Type, Payload>;

/** The types of events that can be sent without a payload. */
export type BareEventType<Events extends EventPayloads> = {
  [Type in keyof Events & string]: undefined extends Events[Type] ? Type : never;
}[keyof Events & string];

/** Options of `result`. */
export interface ResultOptions {
  /** Default: none. */
  readonly timeout?: Duration;
  /** Ends the wait; the instance continues to run. */
  readonly signal?: AbortSignal;
}

/** Options of `restart`. */
export interface RestartRunOptions {
  readonly from?: RestartPoint;
  /** Runs the newest version that the calling process has. Default: the version that the instance has. */
  readonly version?: "newest";
}

/** One instance of a workflow. */
export interface WorkflowInstance<Output = unknown, Events extends EventPayloads = EventPayloads> {
  readonly id: string;
  readonly workflowName: string;
  status(): Promise<InstanceState<Output>>;
  /** The events of this run that no step has received yet. */
  unreceivedEvents(): Promise<UnreceivedEvents>;
  /**
   * Waits for the end and returns the output. Throws `WorkflowFailedError`, whose cause is the error that the workflow threw,
   * or `WorkflowTerminatedError`; and `result.timeout` if it takes longer than `timeout`. In the code of a workflow, outside
   * its steps, the wait is durable: it is stored, and needs no process and no slot.
   */
  result(options?: ResultOptions): Promise<Output>;
  /** Sends an event, even if no step waits for it yet. Resolves when it is stored. Refused if the instance is finished. */
  sendEvent<Type extends BareEventType<Events>>(event: SentEvent<Type, Events[Type]>): Promise<void>;
  sendEvent<Type extends keyof Events & string>(event: LoadedEvent<Type, Events[Type]>): Promise<void>;
  /**
   * Pauses: running steps end, and no others begin. Does nothing if it is already paused. `by` is who pauses it, for
   * `explain()`; over HTTP, the caller's name counts if the policy names it.
   */
  pause(options?: { readonly by?: string }): Promise<void>;
  /** Resumes. Timers continue while it is paused: those that have come due fire now. Does nothing if it isn't paused. */
  resume(): Promise<void>;
  /**
   * Ends it. The signals of running steps are aborted, and their results are dropped. With `rollback`, its steps' rollbacks run
   * first, in any process; without, a running rollback ends too.
   */
  terminate(options?: { readonly rollback?: boolean }): Promise<void>;
  /**
   * Begins a new run with the same params, from any status. Earlier runs stay in the history; events that were not received are
   * dropped. With `from`, steps that began before that step and have ended keep their results. It keeps its version, too,
   * unless
   * `version` is `"newest"`.
   */
  restart(options?: RestartRunOptions): Promise<void>;
  /**
   * For an errored instance: begins a run that keeps the results of all steps except those whose failures ended it, which get
   * fresh attempts. Events that no kept step has received stay.
   */
  retryFailedStep(): Promise<void>;
  /** Deletes it with its history, in any status. */
  delete(): Promise<void>;
  /**
   * Says why it waits: what it waits for, which worker holds it, or why no worker claims it. Reads what is stored, and writes
   * nothing.
   */
  explain(): Promise<Explanation>;
  /** One page of its journal, of all runs. */
  history(options?: HistoryOptions): Promise<HistoryPage>;
  /**
   * Subscribes to its events: those since its run began, or since the cursor, and then new ones as they happen. Ends after the
   * event that ends the run.
   *
   * @example
   * for await (const event of await instance.subscribe({ filter: ["step_completed"] })) console.log(event.stepName);
   */
  subscribe<const Type extends WorkflowInstanceEventType = StandardEventType>(
    options?: SubscribeOptions<Type>,
  ): Promise<WorkflowInstanceSubscription<Type>>;
}

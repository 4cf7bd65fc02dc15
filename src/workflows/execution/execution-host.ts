import type { Clock } from "../../clock.ts";
import type {
  ClaimedInstance,
  EventsRequest,
  InstanceCommit,
  InstanceCommitResult,
  InstanceHistory,
  InstanceLease,
  InstanceName,
  LoadedEvents,
  NamedRun,
  ProgressRange,
} from "../../store/instances/instance-records.ts";
import type { HeldLoad } from "../../store/instances/load-budget.ts";
import type { WorkflowSettings } from "../define/workflow-settings.ts";
import type { Attempt } from "./attempt.ts";

/** An execution that has let go of its instance, and can go on with it. */
export interface ParkedExecution {
  readonly instance: ClaimedInstance;
  /** The lease that it had. */
  readonly lease: InstanceLease;
  continue(
    lease: InstanceLease,
    news: { wakes: number; at: number; askedAt: number },
    onLastCommit: () => void,
  ): Promise<ExecutionEnd>;
}

/** What an execution needs of the world around it. */
export interface ExecutionHost {
  readonly clock: Clock;
  readonly limits: WorkflowSettings;
  /** With what the application wants to happen when a run is over. */
  commit(commit: InstanceCommit, instance: InstanceName): Promise<InstanceCommitResult>;
  /** A commit of this instance was written: whoever follows it should know. */
  committed(ref: string): void;
  /** A step has ended: what it emitted is dropped, as soon as those who follow the instance can have read it. */
  dropProgress(range: ProgressRange): void;
  /** Stores a stream that a step gives; gives what to remember of it. */
  keepStream(attempt: Attempt, lease: InstanceLease, stream: ReadableStream<unknown>): Promise<unknown>;
  /** `isWanted` is asked before each page; `held` counts what is loaded until it is released. */
  load(run: NamedRun, held: HeldLoad, isWanted: () => boolean): Promise<InstanceHistory | null>;
  beginLoad(): HeldLoad;
  loadEvents(request: EventsRequest): Promise<LoadedEvents | null>;
  /** Calls back after everything that is already under way in this turn of the event loop. */
  defer(callback: () => void): void;
  /** The code went on after the instance had been parked: take the instance again, if nobody else has. */
  reacquire(execution: ParkedExecution): void;
  warn(message: string, details: Readonly<Record<string, unknown>>): void;
}

/**
 * How an execution ended: its run is over, or waits without us; or somebody else has it now, and whatever we still did would be
 * refused.
 */
export type ExecutionEnd =
  | { readonly kind: "completed"; readonly output: string }
  /** `rollbackError` is given where it was rolled back, and that failed. */
  | { readonly kind: "errored"; readonly error: string; readonly thrown: unknown; readonly rollbackError?: unknown }
  | { readonly kind: "terminated"; readonly rollbackError?: unknown }
  /** `delayMs` is how long until it is due; null while it is paused. */
  | { readonly kind: "parked"; readonly delayMs: number | null }
  | { readonly kind: "released" | "superseded" | "abandoned" };

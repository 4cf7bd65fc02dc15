import type { Clock } from "../../clock.ts";
import type { WorkflowMeter } from "../../monitoring/meters/meter.ts";
import type { RunTrace } from "../../monitoring/tracing.ts";
import type { Dialect } from "../../store/dialect.ts";
import type { Engine } from "../../store/engine.ts";
import type {
  ClaimedInstance,
  EventsRequest,
  InstanceCommit,
  InstanceCommitResult,
  InstanceHistory,
  InstanceLease,
  InstanceName,
  InstanceRun,
  LoadedEvents,
  NamedRun,
  ProgressRange,
  WaitRequest,
  WaitResult,
} from "../../store/instances/instance-records.ts";
import type { HeldLoad } from "../../store/instances/load-budget.ts";
import type { StreamReference } from "../../values/index.ts";
import type { WorkflowSettings } from "../define/workflow-settings.ts";
import type { Attempt } from "./attempt.ts";

/** An execution that has let go of its instance, and can go on with it. */
export interface ParkedExecution {
  readonly instance: ClaimedInstance;
  /** The lease that it had. */
  readonly lease: InstanceLease;
  continue(news: { wakes: number; at: number; askedAt: number }, onLastCommit: () => void): Promise<ExecutionEnd>;
}

/** Everything that an execution needs of the world around it. */
export interface ExecutionHost {
  readonly clock: Clock;
  readonly limits: WorkflowSettings;
  readonly turns: TurnQueue;
  readonly dialect: Dialect;
  /** Counts what instances of a workflow do. */
  meterOf(name: string): WorkflowMeter;
  /** The trace of a run; null without telemetry. */
  trace(instance: ClaimedInstance): RunTrace | null;
  /** A transaction of the engine, for a step. */
  transaction: Engine["transaction"];
  /** The entries from the position of a commit on, whose outcome isn't known. Null if the run is gone. */
  readCommit(commit: InstanceCommit, run: InstanceRun): Promise<InstanceHistory | null>;
  /** Writes the commit, with the hook that the application wants to be triggered when a run is over. */
  commit(commit: InstanceCommit, instance: InstanceName): Promise<InstanceCommitResult>;
  /** A commit of this instance was written: its followers should know. */
  committed(ref: string): void;
  /** A step has ended: its progress is dropped, as soon as followers of the instance can have read it. */
  dropProgress(range: ProgressRange): void;
  /** Stores a stream that a step returned; gives the reference to remember. */
  keepStream(attempt: Attempt, lease: InstanceLease, stream: ReadableStream<unknown>): Promise<unknown>;
  /** Opens a stored stream. `onFailure` is called if the database fails while the code reads it. */
  openStream(ref: string, reference: StreamReference, onFailure: (error: unknown) => void): unknown;
  /** `isWanted` is asked before each page; `held` counts what is loaded until it is released. */
  load(run: NamedRun, held: HeldLoad, isWanted: () => boolean): Promise<InstanceHistory | null>;
  beginLoad(): HeldLoad;
  loadEvents(request: EventsRequest, held: HeldLoad): Promise<LoadedEvents | null>;
  /** Makes a run wait for the end of an instance; gives the end if it has ended. */
  awaitEnd(request: WaitRequest): Promise<WaitResult>;
  /** These instances waited for the end of one that this process has ended. */
  woke(refs: readonly string[]): void;
  /** The code went on after the instance had been parked: takes the instance again, unless it has another owner. */
  reacquire(execution: ParkedExecution): void;
  /** Whether the instance is held if its code diverges from its history. */
  stopsDiverged(instance: ClaimedInstance): boolean;
  /** Whether the instance fails if its function ends without some of its steps. */
  isStrict(instance: ClaimedInstance): boolean;
  warn(message: string, details: Readonly<Record<string, unknown>>): void;
}

/**
 * How an execution ended: its run is over, or waits without an owner; or it has another owner, and whatever this one still did
 * would be refused.
 */
export type ExecutionEnd =
  | { readonly kind: "completed"; readonly output: string }
  /** `rollbackError` is given where the run was rolled back, and that failed. */
  | { readonly kind: "errored"; readonly error: string; readonly thrown: unknown; readonly rollbackError?: unknown }
  | { readonly kind: "terminated"; readonly rollbackError?: unknown }
  /** `delayMs` is how long until it is due; null while it is paused. */
  | { readonly kind: "parked"; readonly delayMs: number | null }
  | { readonly kind: "released" | "superseded" | "abandoned" };

interface TurnTaker {
  takeTurn(): void;
}

/** The turns of many executions, taken together: one visit of the event loop serves all of them. */
export class TurnQueue {
  readonly #clock: Clock;
  readonly #takeAll = () => this.#take();
  #waiting: TurnTaker[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** It takes its turn after everything that is under way; turns that are asked for meanwhile come with the next visit. */
  add(taker: TurnTaker): void {
    if (this.#waiting.push(taker) === 1) this.#clock.defer(this.#takeAll);
  }

  #take(): void {
    const takers = this.#waiting;
    this.#waiting = [];
    for (const taker of takers) taker.takeTurn();
  }
}

import type { ErrorDescription } from "../../values/index.ts";

/** An event of an instance, as `subscribe` yields it. */
export type WorkflowInstanceEvent = {
  readonly instanceId: string;
  /** Rises from event to event, with gaps. `cursor` takes it. */
  readonly eventId: number;
  /** In milliseconds since the epoch, by the database's clock. */
  readonly timestamp: number;
  /** Counted from 1; a restart begins the next. */
  readonly run: number;
} & EventDetails;

export type WorkflowInstanceEventType = WorkflowInstanceEvent["type"];

/** The events without a filter, as on Cloudflare. Others must be named in the filter. */
export type StandardEventType = Exclude<WorkflowInstanceEventType, "step_progress">;

export interface SubscribeOptions<Type extends WorkflowInstanceEventType = WorkflowInstanceEventType> {
  /** The id of the last event that you have: the subscription continues after it. Default: the beginning of the present run. */
  readonly cursor?: number;
  /** Only events of these types. Default: all but `step_progress`. */
  readonly filter?: readonly Type[];
}

/**
 * Events of an instance, one at a time, on demand: it reads at most one page ahead. It ends after the event that ends the run.
 * Disposing of it, or leaving a `for await`, frees its resources.
 */
export interface WorkflowInstanceSubscription<Type extends WorkflowInstanceEventType = WorkflowInstanceEventType>
  extends Disposable,
    AsyncIterable<EventOf<Type>, void> {
  next(): Promise<IteratorResult<EventOf<Type>, void>>;
  return(): Promise<IteratorResult<EventOf<Type>, void>>;
}

type EventOf<Type extends WorkflowInstanceEventType> = Extract<WorkflowInstanceEvent, { readonly type: Type }>;

/** A step. `count` is 1 for the first call with this name, 2 for the second, and so on. */
interface StepDetails {
  readonly stepName: string;
  readonly count: number;
}

interface AttemptDetails extends StepDetails {
  readonly attempt: number;
}

type WorkflowDetails =
  | { readonly type: "workflow_queued" }
  | { readonly type: "workflow_started"; readonly params?: unknown }
  | { readonly type: "workflow_running" }
  | { readonly type: "workflow_paused" }
  | { readonly type: "workflow_waiting_for_pause" }
  | { readonly type: "workflow_waiting" }
  | { readonly type: "workflow_completed"; readonly output?: unknown }
  | { readonly type: "workflow_errored"; readonly error: ErrorDescription }
  | { readonly type: "workflow_terminated" };

type BodyDetails =
  | ({ readonly type: "step_started" } & StepDetails)
  | ({ readonly type: "step_completed"; readonly output?: unknown } & StepDetails)
  | ({ readonly type: "step_errored" } & StepDetails)
  | ({ readonly type: "attempt_started" } & AttemptDetails)
  | ({ readonly type: "attempt_completed" } & AttemptDetails)
  | ({
      readonly type: "attempt_errored";
      readonly retryDelayMs?: number;
      readonly error: ErrorDescription;
    } & AttemptDetails);

type ProgressDetails = { readonly type: "step_progress"; readonly value: unknown } & AttemptDetails;

type WaitDetails =
  | ({ readonly type: "sleep_started"; readonly durationMs: number } & StepDetails)
  | ({ readonly type: "sleep_completed" | "sleep_abandoned" } & StepDetails)
  | ({ readonly type: "wait_started"; readonly eventType: string } & StepDetails)
  | ({ readonly type: "wait_completed" } & StepDetails)
  | ({ readonly type: "wait_timed_out" | "wait_abandoned" } & StepDetails);

type RollbackDetails =
  | { readonly type: "rollback_started" | "rollback_completed" | "rollback_errored" }
  | ({ readonly type: "rollback_step_started" | "rollback_step_completed" } & StepDetails)
  | ({ readonly type: "rollback_step_errored"; readonly error: ErrorDescription } & StepDetails)
  | ({ readonly type: "rollback_attempt_started" | "rollback_attempt_completed" } & AttemptDetails)
  | ({
      readonly type: "rollback_attempt_errored";
      readonly retryDelayMs?: number;
      readonly error: ErrorDescription;
    } & AttemptDetails);

/** The details of an event, by its type. */
export type EventDetails = WorkflowDetails | BodyDetails | ProgressDetails | WaitDetails | RollbackDetails;

/**
 * The origin of an event. `position` is the journal position of its entry: 0 for the beginning of a run, `END` for its end. An
 * entry can yield several events, each in its own slot.
 */
interface EventOrigin {
  readonly run: number;
  readonly position: number;
  readonly slot: number;
}

const SLOTS = 16;
const POSITIONS = 2 ** 30;

/** Behind every entry that a run can have. */
export const END: number = POSITIONS - 1;

/** For events that the end of a run implies, just before that end. */
export const BEFORE_END: number = END - 1;

/**
 * Ids follow from the stored rows, so they are the same in every process, and they rise. The first is 1: a cursor of 0 is
 * before all.
 */
export function eventIdOf({ run, position, slot }: EventOrigin): number {
  return ((run - 1) * POSITIONS + position) * SLOTS + slot + 1;
}

/** The run that an event of this id belongs to. */
export function runOf(eventId: number): number {
  return Math.floor(Math.max(eventId - 1, 0) / (POSITIONS * SLOTS)) + 1;
}

/** A cursor before all events of a run. */
export function startOf(run: number): number {
  return eventIdOf({ run, position: 0, slot: 0 }) - 1;
}

import type { EventDetails } from "./event-details.ts";

/** What happened to an instance, as `subscribe` tells it. */
export type WorkflowInstanceEvent = {
  readonly instanceId: string;
  /** Rises from event to event; what `cursor` takes. Not dense. */
  readonly eventId: number;
  /** In milliseconds since the epoch, by the database's clock. */
  readonly timestamp: number;
  /** Counted from 1; a restart begins the next. */
  readonly run: number;
} & EventDetails;

export type WorkflowInstanceEventType = WorkflowInstanceEvent["type"];

/** What is told unless a filter asks for it by name: what Cloudflare tells, too. */
export type StandardEventType = Exclude<WorkflowInstanceEventType, "step_progress">;

export interface SubscribeOptions<Type extends WorkflowInstanceEventType = WorkflowInstanceEventType> {
  /** The id of the last event that you have: events after it are told. Default: the present run from its beginning. */
  readonly cursor?: number;
  /** Only events of these types. Default: all but `step_progress`. */
  readonly filter?: readonly Type[];
}

/**
 * Events of an instance, one at a time, as you ask for them: nothing is read ahead of you by more than a page. It ends after the
 * event that ends the run. Disposing of it, or leaving a `for await`, frees everything.
 */
export interface WorkflowInstanceSubscription<Type extends WorkflowInstanceEventType = WorkflowInstanceEventType>
  extends Disposable,
    AsyncIterable<EventOf<Type>, void> {
  next(): Promise<IteratorResult<EventOf<Type>, void>>;
  return(): Promise<IteratorResult<EventOf<Type>, void>>;
}

type EventOf<Type extends WorkflowInstanceEventType> = Extract<WorkflowInstanceEvent, { readonly type: Type }>;

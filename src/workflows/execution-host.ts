import type { Clock } from "../clock.ts";
import type {
  EventsRequest,
  InstanceCommit,
  InstanceCommitResult,
  InstanceHistory,
  InstanceRun,
  LoadedEvents,
} from "../store/instance-records.ts";

/** What an execution needs of the world around it. */
export interface ExecutionHost {
  readonly clock: Clock;
  readonly maxValueBytes: number;
  commit(commit: InstanceCommit): Promise<InstanceCommitResult>;
  load(run: InstanceRun): Promise<InstanceHistory | null>;
  loadEvents(request: EventsRequest): Promise<LoadedEvents | null>;
  /** The code went on after the instance had been parked: take the instance again, if nobody else has. */
  reacquire(): void;
  warn(message: string, details: Readonly<Record<string, unknown>>): void;
}

/**
 * How an execution ended: its run is over, or waits without us; or somebody else has it now, and whatever we still did would be
 * refused.
 */
export type ExecutionEnd =
  | { readonly kind: "completed"; readonly output: string }
  | { readonly kind: "errored"; readonly error: string; readonly thrown: unknown }
  /** `delayMs` is how long until it is due; null while it is paused. */
  | { readonly kind: "parked"; readonly delayMs: number | null }
  | { readonly kind: "released" | "superseded" | "abandoned" };

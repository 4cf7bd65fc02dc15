import type { InstanceRun, InstanceTarget, NamedRun } from "./instance-identity.ts";

export interface StoredEvent {
  readonly id: string;
  /** Rises in the order of commits within an instance. */
  readonly sequence: number;
  readonly type: string;
  readonly payload: string;
  /** The database's time at which it was stored. */
  readonly at: number;
}

/** An event that no step has received. */
export interface UnreceivedRecord extends Omit<StoredEvent, "payload"> {
  /** Null where it and the payloads before it are larger than was asked for. */
  readonly payload: string | null;
}

/** The events of a run that no step has received. */
export interface UnreceivedRecords {
  /** Of all. */
  readonly total: number;
  /** The oldest, in the order of their sequences. */
  readonly events: readonly UnreceivedRecord[];
}

/** How much to read: the number of events, and the bytes of their stored payloads together. */
export interface EventLimits {
  readonly events: number;
  readonly bytes: number;
}

/** The events of a run that came after this sequence. */
export interface EventsRequest extends NamedRun {
  readonly after: number;
}

export interface LoadedEvents extends InstanceRun {
  readonly wakes: number;
  /** In the order of their sequences. */
  readonly events: readonly StoredEvent[];
  /** Whether this is a page after which more may follow; absent where it is everything. */
  readonly more?: true;
}

export interface EventInsert extends InstanceTarget {
  /** Of the event: one that a run already has is not stored again. */
  readonly eventId: string;
  readonly type: string;
  readonly payload: string;
  /** The event isn't stored if this many events wait for the run to receive them. Default: no limit. */
  readonly maxPending?: number;
  /** Of the token that sends it to the run in `only`: unless the run has it, it isn't stored once the token's wait is over. */
  readonly token?: TokenStep;
}

/** The wait of a token, in its run. */
export interface TokenStep {
  readonly name: string;
  readonly count: number;
}

/**
 * `known`: the run has an event of this id. `full`: too many wait already, and nothing was stored. `repeated`: its receipt was there.
 * `over`: the wait of its token has ended, its deadline has passed, or the run is rolled back.
 */
export type EventInsertResult =
  | { readonly result: "sent" | "known"; readonly ref: string }
  | { readonly result: "finished" }
  | { readonly result: "over" }
  | { readonly result: "full" }
  | { readonly result: "missing" }
  | { readonly result: "repeated" };

import type { StoredEvent } from "../../store/instances/instance-records.ts";
import type { EventCall } from "./step-call.ts";

/** An event for a call that waits for it, or its timeout. `at` is when that came to be. */
export interface EventMatch {
  readonly call: EventCall;
  readonly event: StoredEvent | null;
  readonly at: number;
}

/** The events of a run. What no step has received yet waits here, first in first out for each type. */
export class EventBox {
  readonly #bySequence = new Map<number, StoredEvent>();
  readonly #waiting = new Map<string, StoredEvent[]>();
  #lastSequence = 0;

  /** Of all that were ever put in. */
  get lastSequence(): number {
    return this.#lastSequence;
  }

  /** In the order of their sequences. */
  add(events: readonly StoredEvent[]): void {
    for (const event of events) {
      if (event.sequence <= this.#lastSequence) continue;
      this.#lastSequence = event.sequence;
      this.#bySequence.set(event.sequence, event);
      const queue = this.#waiting.get(event.type);
      if (queue === undefined) this.#waiting.set(event.type, [event]);
      else queue.push(event);
    }
  }

  /** Received ones too: a replay hands them out again. */
  get(sequence: number): StoredEvent | undefined {
    return this.#bySequence.get(sequence);
  }

  markReceived({ type, sequence }: StoredEvent): void {
    const queue = this.#waiting.get(type) ?? [];
    const index = queue.findIndex((event) => event.sequence === sequence);
    if (index >= 0) queue.splice(index, 1);
  }

  /**
   * The first thing that happened to any of these calls, which are in the order of calling: an event that arrived by the call's
   * deadline, or the deadline itself if it is past at `now`. A call that has timed out takes nothing.
   */
  match(calls: Iterable<EventCall>, now: number): EventMatch | null {
    const taken = new Map<string, number>();
    let first: EventMatch | null = null;
    for (const call of calls) {
      const next = taken.get(call.eventType) ?? 0;
      const event = this.#waiting.get(call.eventType)?.[next];
      const arrived = event !== undefined && event.at <= call.dueAt;
      if (!arrived && call.dueAt > now) continue;
      if (arrived) taken.set(call.eventType, next + 1);
      const match = arrived ? { call, event, at: event.at } : { call, event: null, at: call.dueAt };
      if (first === null || match.at < first.at) first = match;
    }
    return first;
  }
}

import type { NewEntry } from "../../store/instances/instance-records.ts";
import type { EventFeed } from "./event-feed.ts";
import { type BodyCall, EventCall, type OpenWait, SleepCall, type StepEnding } from "./step-call.ts";
import { eventTimeout, toReceived } from "./step-ending.ts";

/** A wait that is over: what to write of it, and how it ends for the code. */
export interface EndedWait {
  readonly call: SleepCall | EventCall;
  readonly entry: NewEntry;
  readonly ending: StepEnding;
}

/** What only time, or an event, brings to an end: sleeps, waits for events, and retries. */
export class OpenWaits {
  readonly #sleeps = new Set<SleepCall>();
  readonly #eventCalls = new Set<EventCall>();
  readonly #retries = new Set<BodyCall>();

  get size(): number {
    return this.#sleeps.size + this.#eventCalls.size + this.#retries.size;
  }

  /** Whether a step waits for an event. */
  get listening(): boolean {
    return this.#eventCalls.size > 0;
  }

  /** The earliest deadline of all of them: infinity if there are none. */
  get earliest(): number {
    let first = Number.POSITIVE_INFINITY;
    for (const waits of [this.#sleeps, this.#eventCalls, this.#retries]) {
      for (const { dueAt } of waits) first = Math.min(first, dueAt);
    }
    return first;
  }

  add(call: OpenWait): void {
    if (call instanceof SleepCall) this.#sleeps.add(call);
    else if (call instanceof EventCall) this.#eventCalls.add(call);
    else this.#retries.add(call as BodyCall);
  }

  /** Nobody waits any more. */
  clear(): void {
    for (const waits of [this.#sleeps, this.#eventCalls, this.#retries]) waits.clear();
  }

  /** Steps whose next attempt is due. */
  takeDueRetries(now: number): BodyCall[] {
    if (this.#retries.size === 0) return [];
    const due = [...this.#retries].filter(({ dueAt }) => dueAt <= now);
    for (const call of due) this.#retries.delete(call);
    return due;
  }

  /**
   * What happened first of all that has happened by now: the end of a sleep, an event, or the deadline of a wait. Deadlines count
   * only as far as we have looked for events: one that arrived by the deadline comes before it.
   */
  takeEnded(now: number, { events, lookedAt }: EventFeed): EndedWait | null {
    const sleep = this.#firstSleep(now);
    const match = this.listening ? events.match(this.#eventCalls, Math.min(now, lookedAt)) : null;
    if (sleep !== null && (match === null || sleep.dueAt <= match.at)) {
      this.#sleeps.delete(sleep);
      return { call: sleep, entry: sleep.entry("completed"), ending: { value: undefined } };
    }
    if (match === null) return null;
    const { call, event } = match;
    this.#eventCalls.delete(call);
    if (event === null)
      return {
        call,
        entry: call.entry("timedOut", { value: JSON.stringify(call.eventType) }),
        ending: { error: eventTimeout(call) },
      };
    events.markReceived(event);
    return { call, entry: call.entry("received", { event: event.sequence }), ending: { value: toReceived(event) } };
  }

  /** Whether there is an event that one of them would receive. */
  hasEvent({ events }: EventFeed): boolean {
    return this.listening && events.match(this.#eventCalls, Number.NEGATIVE_INFINITY) !== null;
  }

  /** Whether a wait for an event has come to its deadline, but we haven't looked since. */
  mustLook(now: number, lookedAt: number): boolean {
    for (const { dueAt } of this.#eventCalls) if (dueAt <= now && dueAt > lookedAt) return true;
    return false;
  }

  /** Entries for the deadlines after this time that aren't in the journal yet. */
  record(after: number): NewEntry[] {
    const entries: NewEntry[] = [];
    for (const waits of [this.#sleeps, this.#eventCalls]) {
      for (const wait of waits) {
        if (wait.recorded || wait.dueAt <= after) continue;
        const value = wait instanceof EventCall ? JSON.stringify(wait.eventType) : null;
        entries.push(wait.entry("waiting", { dueAt: wait.dueAt, value }));
        wait.recorded = true;
      }
    }
    return entries;
  }

  #firstSleep(now: number): SleepCall | null {
    let first: SleepCall | null = null;
    for (const sleep of this.#sleeps) {
      if (sleep.dueAt <= now && (first === null || sleep.dueAt < first.dueAt)) first = sleep;
    }
    return first;
  }
}

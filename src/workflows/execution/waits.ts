import type { NewEntry } from "../../store/instances/instance-records.ts";
import type { EventMatch, Events } from "./events.ts";
import { type BodyCall, EventCall, type OpenWait, SleepCall } from "./steps/step-call.ts";

/** The calls that only time, or an event, brings to an end: sleeps, waits for events, and retries. */
export class Waits {
  // Each is created with its first call: most runs wait for nothing.
  #sleeps: Set<SleepCall> | undefined;
  #eventCalls: Set<EventCall> | undefined;
  #retries: Set<BodyCall> | undefined;

  get size(): number {
    return (this.#sleeps?.size ?? 0) + (this.#eventCalls?.size ?? 0) + (this.#retries?.size ?? 0);
  }

  /** Whether a step waits for an event. */
  get listening(): boolean {
    return this.#eventCalls !== undefined && this.#eventCalls.size > 0;
  }

  /** The earliest deadline of all of them: infinity if there are none. */
  get earliest(): number {
    let first = Number.POSITIVE_INFINITY;
    for (const waits of [this.#sleeps, this.#eventCalls, this.#retries]) {
      for (const { dueAt } of waits ?? []) first = Math.min(first, dueAt);
    }
    return first;
  }

  /** Steps that have failed, and will be tried again. */
  get retries(): BodyCall[] {
    return [...(this.#retries ?? [])];
  }

  add(call: OpenWait): void {
    if (call instanceof SleepCall) {
      this.#sleeps ??= new Set();
      this.#sleeps.add(call);
    } else if (call instanceof EventCall) {
      this.#eventCalls ??= new Set();
      this.#eventCalls.add(call);
    } else {
      this.#retries ??= new Set();
      this.#retries.add(call as BodyCall);
    }
  }

  /** Ends a wait in another way than by time or an event. Returns false if it has ended. */
  remove(call: SleepCall | EventCall): boolean {
    return (call instanceof EventCall ? this.#eventCalls?.delete(call) : this.#sleeps?.delete(call)) ?? false;
  }

  clear(): void {
    this.#sleeps?.clear();
    this.#eventCalls?.clear();
    this.#retries?.clear();
  }

  /** Steps whose next attempt is due. */
  takeDueRetries(now: number): BodyCall[] {
    if (this.#retries === undefined || this.#retries.size === 0) return [];
    const due = [...this.#retries].filter(({ dueAt }) => dueAt <= now);
    for (const call of due) this.#retries.delete(call);
    return due;
  }

  /**
   * The first of all waits that have ended by now: a sleep, or a wait for an event with its event or its timeout. Deadlines
   * count only as far as we have looked for events, because an event that arrived by the deadline comes before it.
   */
  takeEnded(now: number, events: Events): SleepCall | EventMatch | null {
    const sleep = this.#firstSleep(now);
    const match = this.listening
      ? events.match(this.#eventCalls as Set<EventCall>, Math.min(now, events.lookedAt))
      : null;
    if (sleep !== null && (match === null || sleep.dueAt <= match.at)) {
      this.#sleeps?.delete(sleep);
      return sleep;
    }
    if (match === null) return null;
    this.#eventCalls?.delete(match.call);
    if (match.event !== null) events.take(match.event);
    return match;
  }

  /** Whether there is an event that one of them would receive. */
  hasEvent(events: Events): boolean {
    return this.listening && events.match(this.#eventCalls as Set<EventCall>, Number.NEGATIVE_INFINITY) !== null;
  }

  /** Before a wait ends by its deadline, and before the owner lets go, it must know of every event that was sent. */
  mustLook(now: number, events: Events): boolean {
    if (!this.listening) return false;
    if (events.behind) return true;
    for (const { dueAt } of this.#eventCalls ?? []) if (dueAt <= now && dueAt > events.lookedAt) return true;
    return false;
  }

  /** Entries for the deadlines after this time that aren't in the journal yet. */
  record(after: number): NewEntry[] {
    const entries: NewEntry[] = [];
    for (const waits of [this.#sleeps, this.#eventCalls]) {
      for (const wait of waits ?? []) {
        const event = wait instanceof EventCall;
        if (wait.recorded || (event && !wait.recordable) || wait.dueAt <= after) continue;
        const value = event ? wait.awaits : null;
        entries.push(wait.entry("waiting", { dueAt: wait.dueAt, value }));
        wait.recorded = true;
      }
    }
    return entries;
  }

  #firstSleep(now: number): SleepCall | null {
    let first: SleepCall | null = null;
    for (const sleep of this.#sleeps ?? []) {
      if (sleep.dueAt <= now && (first === null || sleep.dueAt < first.dueAt)) first = sleep;
    }
    return first;
  }
}

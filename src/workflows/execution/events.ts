import type { JournalEntry, NamedRun, StoredEvent } from "../../store/instances/instance-records.ts";
import type { ExecutionHost } from "./execution-host.ts";
import type { EventCall } from "./steps/step-call.ts";

/** An event for a call that waits for it, or its timeout. `at` is the time of the event, or the deadline. */
export interface EventMatch {
  readonly call: EventCall;
  readonly event: StoredEvent | null;
  readonly at: number;
}

/**
 * The events of a run, as far as its owner knows them. The database counts events and resumes in `wakes`: a number that we
 * haven't seen says that something came in.
 */
export class Events {
  /** Created with the first event: most runs have none. */
  #box: EventBox | undefined;
  #loadedWakes: number;
  #knownWakes: number;
  #lookedAt = 0;
  #looking = false;

  constructor(wakes: number) {
    this.#loadedWakes = wakes;
    this.#knownWakes = wakes;
  }

  /** `wakes` at the time of the events that we have. */
  get loadedWakes(): number {
    return this.#loadedWakes;
  }

  /** `wakes` in the last answer. */
  get knownWakes(): number {
    return this.#knownWakes;
  }

  /** The database's time, at least, when we last looked for events. */
  get lookedAt(): number {
    return this.#lookedAt;
  }

  /** Whether something came in that we haven't loaded. */
  get behind(): boolean {
    return this.#knownWakes !== this.#loadedWakes;
  }

  /** Whether the database is being asked for events: one question at a time. */
  get looking(): boolean {
    return this.#looking;
  }

  /** The sequence of the last event that was loaded. */
  get lastSequence(): number {
    return this.#box?.lastSequence ?? 0;
  }

  heard(wakes: number): void {
    if (wakes > this.#knownWakes) this.#knownWakes = wakes;
  }

  /** Adds all events that had come in at `lookedAt`, and perhaps later ones. */
  add({ wakes, events }: { wakes: number; events: readonly StoredEvent[] }, lookedAt: number): void {
    if (events.length > 0) {
      this.#box ??= new EventBox();
      this.#box.add(events);
    }
    this.#loadedWakes = Math.max(this.#loadedWakes, wakes);
    this.#lookedAt = Math.max(this.#lookedAt, lookedAt);
    this.heard(wakes);
  }

  /** Asks the database for events that came in after those that we have. Returns false if the run is gone. */
  async load(host: ExecutionHost, { ref, run, instance }: NamedRun, now: number): Promise<boolean> {
    this.#looking = true;
    const held = host.beginLoad();
    try {
      const loaded = await host.loadEvents({ ref, run, instance, after: this.lastSequence }, held);
      if (loaded !== null) this.add(loaded, now);
      return loaded !== null;
    } finally {
      held.release();
      this.#looking = false;
    }
  }

  /** These entries are stored: the events that they received are taken. */
  markReceived(entries: readonly JournalEntry[]): void {
    for (const { event } of entries) {
      const received = event === null ? undefined : this.get(event);
      if (received !== undefined) this.take(received);
    }
  }

  /** Received events too: a replay delivers them again. */
  get(sequence: number): StoredEvent | undefined {
    return this.#box?.bySequence.get(sequence);
  }

  /** A step receives it. */
  take(event: StoredEvent): void {
    this.#box?.take(event);
  }

  /**
   * The first thing that happened to any of these calls, which are in the order of calling: an event that arrived by the call's
   * deadline, or the deadline itself if it is past at `now`. A call that has timed out takes no event.
   */
  match(calls: Iterable<EventCall>, now: number): EventMatch | null {
    const taken = new Map<string, number>();
    let first: EventMatch | null = null;
    for (const call of calls) {
      const next = taken.get(call.eventType) ?? 0;
      const event = this.#box?.waiting.get(call.eventType)?.[next];
      const arrived = event !== undefined && event.at <= call.dueAt;
      if (!arrived && call.dueAt > now) continue;
      if (arrived) taken.set(call.eventType, next + 1);
      const match = arrived ? { call, event, at: event.at } : { call, event: null, at: call.dueAt };
      if (first === null || match.at < first.at) first = match;
    }
    return first;
  }
}

/** The loaded events. Those that no step has received wait here, first in first out for each type. */
class EventBox {
  readonly bySequence = new Map<number, StoredEvent>();
  readonly waiting = new Map<string, StoredEvent[]>();
  lastSequence = 0;

  /** In the order of their sequences. */
  add(events: readonly StoredEvent[]): void {
    for (const event of events) {
      if (event.sequence <= this.lastSequence) continue;
      this.lastSequence = event.sequence;
      this.bySequence.set(event.sequence, event);
      const queue = this.waiting.get(event.type);
      if (queue === undefined) this.waiting.set(event.type, [event]);
      else queue.push(event);
    }
  }

  take({ type, sequence }: StoredEvent): void {
    const queue = this.waiting.get(type) ?? [];
    const index = queue.findIndex((event) => event.sequence === sequence);
    if (index >= 0) queue.splice(index, 1);
  }
}

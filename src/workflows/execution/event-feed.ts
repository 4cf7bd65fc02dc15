import type { JournalEntry, StoredEvent } from "../../store/instances/instance-records.ts";
import { EventBox } from "./event-box.ts";

/**
 * What an execution knows of the events that were sent. `wakes` counts them in the database (and resumes, too): a number that we
 * haven't seen says that something came in.
 */
export class EventFeed {
  #events: EventBox | undefined;
  #loadedWakes: number;
  #knownWakes: number;
  #lookedAt = 0;

  constructor(wakes: number) {
    this.#loadedWakes = wakes;
    this.#knownWakes = wakes;
  }

  /** Made when there is a use for it: most runs have no events. */
  get events(): EventBox {
    this.#events ??= new EventBox();
    return this.#events;
  }

  /** As of the events that we have. */
  get loadedWakes(): number {
    return this.#loadedWakes;
  }

  /** As of the last answer. */
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

  heard(wakes: number): void {
    this.#knownWakes = Math.max(this.#knownWakes, wakes);
  }

  /** Everything that had come in at `lookedAt`, or later. */
  add({ wakes, events }: { wakes: number; events: readonly StoredEvent[] }, lookedAt: number): void {
    if (events.length > 0) this.events.add(events);
    this.#loadedWakes = Math.max(this.#loadedWakes, wakes);
    this.#lookedAt = Math.max(this.#lookedAt, lookedAt);
    this.heard(wakes);
  }

  /** What steps have received before. */
  markReceived(entries: readonly JournalEntry[]): void {
    for (const { event } of entries) {
      const received = event === null ? undefined : this.events.get(event);
      if (received !== undefined) this.events.markReceived(received);
    }
  }
}

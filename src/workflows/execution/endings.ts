import type { JournalEntry } from "../../store/instances/instance-records.ts";
import type { EventBox } from "./event-box.ts";
import type { StepCall } from "./step-call.ts";
import { storedEnding } from "./step-ending.ts";

/** Steps that have ended, and whose callers aren't told yet. They are told one at a time. */
export class Endings {
  /** Endings that are stored, of steps that were called. */
  readonly #stored = new Set<{ call: StepCall; ending: JournalEntry }>();
  /** What has ended in this execution, in that order. */
  readonly #arrived: (() => void)[] = [];

  /** Whether nothing waits to be told. */
  get empty(): boolean {
    return this.#stored.size === 0 && this.#arrived.length === 0;
  }

  /** Whether the replay has something left to tell. */
  get replaying(): boolean {
    return this.#stored.size > 0;
  }

  addStored(call: StepCall, ending: JournalEntry): void {
    this.#stored.add({ call, ending });
  }

  addArrived(deliver: () => void): void {
    this.#arrived.push(deliver);
  }

  /** First those of the journal, in its order, then what has ended since. */
  deliverNext(events: () => EventBox): boolean {
    return this.#replayNext(events) || this.#deliverArrived();
  }

  /** Nobody is told any more. */
  clear(): void {
    this.#stored.clear();
    this.#arrived.length = 0;
  }

  #replayNext(events: () => EventBox): boolean {
    let next: { call: StepCall; ending: JournalEntry } | undefined;
    for (const one of this.#stored) {
      if (next === undefined || one.ending.position < next.ending.position) next = one;
    }
    if (next === undefined) return false;
    this.#stored.delete(next);
    next.call.end(storedEnding(next.call, next.ending, events()));
    forget(next.call, next.ending);
    return true;
  }

  #deliverArrived(): boolean {
    const deliver = this.#arrived.shift();
    deliver?.();
    return deliver !== undefined;
  }
}

/** The code has the value now: a long journal isn't kept beside it. A rollback may want what its step gave. */
function forget(call: StepCall, ending: JournalEntry): void {
  const { record } = call;
  if (record === null || record.undo !== null || record.ending !== ending) return;
  record.ending = { ...ending, value: null };
}

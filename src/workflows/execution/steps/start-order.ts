import type { JournalEntry } from "../../../store/instances/instance-records.ts";
import { pathOf, type StepIdentity } from "./step-path.ts";

/** A call of a step, as far as its place in start order goes. */
export interface StartedCall extends StepIdentity {
  readonly record: { readonly began: number | null } | null;
  began: number;
  /** Its neighbours among the calls that have no entry yet. */
  earlier: StartedCall | null;
  later: StartedCall | null;
}

/**
 * The order in which the code called its steps. The first entry of a step says which call it was; most don't need to, because
 * they are written in start order: an entry that says nothing belongs to a step that began after all that have earlier entries.
 * That stays true for a run that begins with copies of some of them.
 *
 * A replay calls steps in the same order, so a step that was lost with its process gets the place that it had.
 */
export class StartOrder {
  #last = 0;
  #latestWritten = 0;
  /** The first and the last call that have no entry yet. */
  #first: StartedCall | null = null;
  #final: StartedCall | null = null;

  /** `latest` was written before this execution. */
  load(latest: number): void {
    this.#latestWritten = latest;
  }

  called(call: StartedCall): void {
    const known = call.record?.began ?? null;
    call.began = known ?? this.#last + 1;
    if (call.began > this.#last) this.#last = call.began;
    if (known === null) this.#append(call);
  }

  /** The place of a step that was called and has no entry yet, by its path. */
  placeOf(path: string): number | null {
    for (let call = this.#first; call !== null; call = call.later) if (pathOf(call) === path) return call.began;
    return null;
  }

  /** What an entry of the call must say: nothing, unless it is its first and isn't in start order. */
  writes(call: StartedCall): number | null {
    if (this.#hasEntry(call)) return null;
    const place = this.mayWrite(call);
    this.#remove(call);
    if (call.began > this.#latestWritten) this.#latestWritten = call.began;
    return place;
  }

  /** The same for an entry that may not be written in the end: then the call has none as before. */
  mayWrite(call: StartedCall): number | null {
    if (this.#hasEntry(call)) return null;
    return this.#first === call && call.began > this.#latestWritten ? null : call.began;
  }

  #hasEntry(call: StartedCall): boolean {
    return this.#first !== call && call.earlier === null;
  }

  #append(call: StartedCall): void {
    call.earlier = this.#final;
    if (this.#final === null) this.#first = call;
    else this.#final.later = call;
    this.#final = call;
  }

  #remove(call: StartedCall): void {
    const { earlier, later } = call;
    if (earlier === null) this.#first = later;
    else earlier.later = later;
    if (later === null) this.#final = earlier;
    else later.earlier = earlier;
    call.earlier = null;
    call.later = null;
  }
}

/** Reads the start order from the first entries of steps, one after the other. */
export class StoredStarts {
  #latest = 0;

  get latest(): number {
    return this.#latest;
  }

  next({ began }: Pick<JournalEntry, "began">): number {
    const place = began ?? this.#latest + 1;
    this.#latest = Math.max(this.#latest, place);
    return place;
  }
}

import type { JournalEntry } from "../../store/instances/instance-records.ts";
import { pathOf, type StepIdentity } from "./step-path.ts";

/** A call of a step, as far as its place in the order of starts goes. */
interface StartedCall extends StepIdentity {
  readonly record: { readonly began: number | null } | null;
  began: number;
}

/**
 * In which order the code called its steps. The first entry of a step says which call it was; most don't need to, because
 * they are written in the order of the calls: an entry that says nothing belongs to a step that began after all that have entries
 * before it. That stays true for a run that begins with copies of some of them.
 *
 * A replay calls steps in the same order, so a step that was lost with its process gets the place that it had.
 */
export class StartOrder {
  #last = 0;
  #latestWritten = 0;
  /** Those that have no entry yet, in the order of their calls. */
  readonly #unwritten = new Set<StartedCall>();

  /** What was written before this execution. */
  load(latest: number): void {
    this.#latestWritten = latest;
  }

  called(call: StartedCall): void {
    const known = call.record?.began ?? null;
    call.began = known ?? this.#last + 1;
    this.#last = Math.max(this.#last, call.began);
    if (known === null) this.#unwritten.add(call);
  }

  /** The place of a step that was called and has no entry yet, by its path. */
  placeOf(path: string): number | null {
    for (const call of this.#unwritten) if (pathOf(call) === path) return call.began;
    return null;
  }

  /** What an entry of the call must say: nothing, unless it is its first and isn't in the order of calls. */
  writes(call: StartedCall): number | null {
    if (!this.#unwritten.has(call)) return null;
    const [first] = this.#unwritten;
    this.#unwritten.delete(call);
    const inOrder = first === call && call.began > this.#latestWritten;
    this.#latestWritten = Math.max(this.#latestWritten, call.began);
    return inOrder ? null : call.began;
  }
}

/** Reads the order of starts from the first entries of steps, one after the other. */
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

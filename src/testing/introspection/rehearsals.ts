import { Modifications } from "./modifications.ts";

/** What the introspectors of a test have changed, by workflow and instance. It outlives crashes. */
export class Rehearsals {
  readonly #all = new Map<string, Set<Modifications>>();
  readonly #created = new Map<string, Set<Set<string>>>();

  /** Modifications of one instance, or of all instances of a workflow that begin from now on. Gives how to drop them. */
  add(key: string, id: string | null): { readonly modifications: Modifications; drop(): void } {
    const modifications = new Modifications();
    const place = placeOf(key, id);
    const present = this.#all.get(place) ?? new Set();
    present.add(modifications);
    this.#all.set(place, present);
    return { modifications, drop: () => void present.delete(modifications) };
  }

  of(key: string, id: string): Modifications[] {
    return [...(this.#all.get(placeOf(key, id)) ?? []), ...(this.#all.get(placeOf(key, null)) ?? [])];
  }

  /** Collects the ids of instances that run, until it is told to stop. */
  collect(key: string): { readonly ids: ReadonlySet<string>; stop(): void } {
    const ids = new Set<string>();
    const collectors = this.#created.get(key) ?? new Set();
    collectors.add(ids);
    this.#created.set(key, collectors);
    return { ids, stop: () => void collectors.delete(ids) };
  }

  /** An instance is created. */
  created(key: string, id: string): void {
    for (const ids of this.#created.get(key) ?? []) ids.add(id);
  }
}

function placeOf(key: string, id: string | null): string {
  return JSON.stringify([key, id]);
}

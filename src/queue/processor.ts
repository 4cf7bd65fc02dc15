import type { Clock } from "../clock.ts";
import type { Randomness } from "../randomness.ts";
import type { ClaimedHook } from "../store/hook-records.ts";
import type { Store } from "../store/store.ts";
import type { WorkTaker } from "../store/work-board.ts";
import type { Work, WorkSource } from "./work.ts";

/** The hooks of some namespaces in one database. */
export interface ProcessorSource extends WorkSource {
  readonly store: Store;
  readonly namespaces: readonly string[];
  /** Whether this process knows how to run hooks of this name. */
  handles(namespace: string, name: string): boolean;
  /** A hook that this process has claimed. */
  toWork(hook: ClaimedHook): Work;
}

/**
 * Everything of some fragments that runs by itself, for a dispatcher to run. Asks the database nothing until it is asked
 * something, so it can be made before `migrate` is done.
 */
export class Processor {
  readonly namespaces: readonly string[];
  readonly sources: readonly ProcessorSource[];
  readonly #stores: readonly Store[];

  constructor(sources: readonly ProcessorSource[]) {
    this.sources = sources;
    this.namespaces = sources.flatMap((source) => source.namespaces);
    this.#stores = sources.map((source) => source.store);
  }

  get clock(): Clock {
    return (this.#stores[0] as Store).clock;
  }

  get randomness(): Randomness {
    return (this.#stores[0] as Store).randomness;
  }

  /** Whether other processes' work is announced to us. */
  get connected(): boolean {
    return this.#stores.every((store) => store.work.connected);
  }

  /** When something is due next: pending, retrying or left behind by a lost process. Null if nothing waits. */
  async getNextWakeAt(): Promise<Date | null> {
    const remaining = await this.nextWake({ takeOver: true });
    return remaining === null ? null : new Date(this.clock.now() + Math.max(remaining, 0));
  }

  /** The same in milliseconds from now, whatever this process thinks the time is. */
  async nextWake(options: { takeOver: boolean }): Promise<number | null> {
    const wakes = await Promise.all(this.sources.map((source) => source.nextWake(options)));
    const known = wakes.filter((wake) => wake !== null);
    return known.length === 0 ? null : Math.min(...known);
  }

  sourceOf(namespace: string, name: string): ProcessorSource | null {
    return this.sources.find((source) => source.handles(namespace, name)) ?? null;
  }

  join(taker: WorkTaker): () => void {
    const leave = this.#stores.map((store) => store.work.join(taker));
    return () => {
      for (const one of leave) one();
    };
  }
}

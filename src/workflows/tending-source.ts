import type { ProcessorSource } from "../queue/processor.ts";
import type { Work } from "../queue/work.ts";
import type { Store } from "../store/store.ts";
import type { WorkflowRuntime } from "./workflow-runtime.ts";

/** What is tended in one namespace at times that it knows itself. Both calls return how long it is until the next time. */
export interface Keeper {
  prepare?(): Promise<void>;
  nextWake(): Promise<number | null>;
  tend(): Promise<number | null>;
  /** Called when another process has told that something changed. */
  heard?(): void;
}

/** Keepers of some namespaces in one database. They take no slot and claim nothing, so a full worker can't delay them. */
export class TendingSource implements ProcessorSource {
  readonly kind = "instance";
  readonly tendsOnly = true;
  readonly store: Store;
  readonly namespaces: readonly string[];
  readonly #keepers: readonly Keeper[];

  constructor(store: Store, runtimes: readonly WorkflowRuntime[], keeperOf: (runtime: WorkflowRuntime) => Keeper) {
    this.store = store;
    this.namespaces = runtimes.map(({ namespace }) => namespace);
    this.#keepers = runtimes.map(keeperOf);
  }

  async prepare(): Promise<void> {
    for (const keeper of this.#keepers) await keeper.prepare?.();
  }

  handles(): boolean {
    return false;
  }

  toWork(): never {
    throw new Error("This source is only tended: it has no work to claim.");
  }

  async claim(): Promise<Work[]> {
    return [];
  }

  nextWake(): Promise<number | null> {
    return earliest(this.#keepers.map((keeper) => keeper.nextWake()));
  }

  tend(): Promise<number | null> {
    return earliest(this.#keepers.map((keeper) => keeper.tend()));
  }

  heard(): void {
    for (const keeper of this.#keepers) keeper.heard?.();
  }

  async renew(): Promise<Set<Work>> {
    return new Set();
  }

  async giveBack(): Promise<void> {}

  async expireLeases(): Promise<number> {
    return 0;
  }

  async purge(): Promise<boolean> {
    return false;
  }
}

/** The first of these times. */
async function earliest(asked: readonly Promise<number | null>[]): Promise<number | null> {
  const known = (await Promise.all(asked)).filter((remaining) => remaining !== null);
  return known.length === 0 ? null : Math.min(...known);
}

import type { Clock } from "../clock.ts";
import type { Randomness } from "../randomness.ts";
import type { ClaimedWork, Reservation, WorkKind, WorkNotice } from "../store/queue/work-board.ts";
import type { Store } from "../store/store.ts";
import type { Work, WorkSource } from "./work.ts";

/** Claimable rows of one kind, of some namespaces in one database. */
export interface ProcessorSource extends WorkSource {
  readonly store: Store;
  readonly kind: WorkKind;
  readonly namespaces: readonly string[];
  /** Whether there is never anything to claim here, only something to tend. */
  readonly tendsOnly?: true;
  /** Whether this process knows how to run what has this name. */
  handles(namespace: string, name: string): boolean;
  /** A row that this process has claimed; `askedAt` is the monotonic time at which it asked for it. */
  toWork(claimed: ClaimedWork[WorkKind], askedAt: number): Work;
  /** Another process says that something has happened in one of the namespaces. */
  heard?(): void;
  /** Does what is due and takes no place. Gives milliseconds until it wants to be called again; null if there is no need to. */
  tend?(): Promise<number | null>;
  /** The dispatcher begins, and from time to time again. Gives whether something may be due now that wasn't. */
  survey?(): Promise<boolean>;
}

/** Takes the work of several databases. Namespaces of two may have one name, so it is told which it is about. */
export interface ProcessorTaker {
  notice(notice: WorkNotice, store: Store): boolean;
  reserve<Kind extends WorkKind>(kind: Kind, namespace: string, name: string, store: Store): Reservation<Kind> | null;
}

/**
 * Everything of some fragments that runs by itself, for a dispatcher to run. Asks the database nothing until it is asked
 * something, so it can be made before `migrate` is done.
 */
export class Processor {
  readonly namespaces: readonly string[];
  /** @internal */
  readonly sources: readonly ProcessorSource[];
  readonly #stores: readonly Store[];

  /** @internal */
  constructor(sources: readonly ProcessorSource[]) {
    this.sources = sources;
    this.namespaces = [...new Set(sources.flatMap((source) => source.namespaces))];
    this.#stores = [...new Set(sources.map((source) => source.store))];
  }

  /** @internal */
  get clock(): Clock {
    return (this.#stores[0] as Store).clock;
  }

  /** @internal */
  get randomness(): Randomness {
    return (this.#stores[0] as Store).randomness;
  }

  /** Whether other processes' work is announced to us. @internal */
  get connected(): boolean {
    return this.#stores.every((store) => store.work.connected);
  }

  /** When something is due next: pending, retrying or left behind by a lost process. Null if nothing waits. */
  async getNextWakeAt(): Promise<Date | null> {
    const remaining = await this.nextWake({ takeOver: true });
    return remaining === null ? null : new Date(this.clock.now() + Math.max(remaining, 0));
  }

  /** The same in milliseconds from now, whatever this process thinks the time is. Rejects if no database is without a failure. @internal */
  async nextWake(options: { takeOver: boolean }): Promise<number | null> {
    const failures = new Map<Store, unknown>();
    const wakes = await Promise.all(
      this.sources.map((source) =>
        source.nextWake(options).catch((error: unknown) => {
          failures.set(source.store, error);
          return null;
        }),
      ),
    );
    if (failures.size === this.#stores.length) throw failures.values().next().value;
    const known = wakes.filter((wake) => wake !== null);
    return known.length === 0 ? null : Math.min(...known);
  }

  /** @internal */
  sourceOf(kind: WorkKind, namespace: string, name: string, store: Store): ProcessorSource | null {
    const sources = this.sources.filter((source) => source.store === store && source.kind === kind);
    return sources.find((source) => source.handles(namespace, name)) ?? null;
  }

  /** Another process says that something has happened in this namespace, or in any. @internal */
  heard(namespace: string | null, store: Store): void {
    for (const source of this.sources.filter((source) => source.store === store)) {
      if (namespace === null || source.namespaces.includes(namespace)) source.heard?.();
    }
  }

  /** @internal */
  join(taker: ProcessorTaker, options: { listens: boolean }): () => void {
    const leave = this.#stores.map((store) => {
      const taking = {
        notice: (notice: WorkNotice) => taker.notice(notice, store),
        reserve: <Kind extends WorkKind>(kind: Kind, namespace: string, name: string) =>
          taker.reserve(kind, namespace, name, store),
      };
      return store.work.join(taking, options);
    });
    return () => {
      for (const one of leave) one();
    };
  }
}

import type { Clock } from "../clock.ts";
import type { Randomness } from "../randomness.ts";
import type { ClaimedWork, Reservation, WorkKind, WorkNotice } from "../store/queue/work-board.ts";
import type { Store } from "../store/store.ts";
import type { Work, WorkSource } from "./work.ts";

/** Claimable rows of one kind, of some namespaces in one database. */
export interface ProcessorSource extends WorkSource {
  readonly store: Store;
  readonly namespaces: readonly string[];
  /** Whether the source has nothing to claim, only chores. */
  readonly tendsOnly?: true;
  /** The names of hooks or workflows that it runs in a namespace, apart from the library's own. */
  registered?(namespace: string): readonly string[];
  /** Whether this process can run work of this name. */
  handles(namespace: string, name: string): boolean;
  /** Makes work of a claimed row; `askedAt` is the monotonic time of the claim. */
  toWork(claimed: ClaimedWork[WorkKind], askedAt: number): Work;
  /** Another process has announced a change in one of the namespaces. */
  heard?(): void;
  /** Runs due chores, which take no slot. Returns the milliseconds until the next call; null if none is needed. */
  tend?(): Promise<number | null>;
  /** Stores what operators must see as soon as the application has started. */
  prepare?(): Promise<void>;
  /** Called when the dispatcher starts, and periodically. Returns whether work may have become due. */
  survey?(): Promise<boolean>;
}

/** Accepts work of several databases. Two databases may have a namespace of the same name, so the store is passed too. */
export interface ProcessorTaker {
  notice(notice: WorkNotice, store: Store): boolean;
  reserve<Kind extends WorkKind>(kind: Kind, namespace: string, name: string, store: Store): Reservation<Kind> | null;
}

/**
 * The hooks, workflows and schedules of some fragments, for a dispatcher to run. Sends no query until it is used, so it can be
 * created before `migrate`.
 */
export class Processor {
  readonly namespaces: readonly string[];
  /** @internal */
  readonly sources: readonly ProcessorSource[];
  /** @internal */
  readonly stores: readonly Store[];

  /** @internal */
  constructor(sources: readonly ProcessorSource[]) {
    this.sources = sources;
    this.namespaces = [...new Set(sources.flatMap((source) => source.namespaces))];
    this.stores = [...new Set(sources.map((source) => source.store))];
  }

  /** @internal */
  get clock(): Clock {
    return (this.stores[0] as Store).clock;
  }

  /** @internal */
  get randomness(): Randomness {
    return (this.stores[0] as Store).randomness;
  }

  /** Stores what operators must see as soon as the application has started: its schedules. @internal */
  async prepare(): Promise<void> {
    for (const source of this.sources) await source.prepare?.();
  }

  /** @internal */
  get stackTraces(): boolean {
    return this.stores.every(({ stackTraces }) => stackTraces);
  }

  /** Whether other processes can announce their work to this one. @internal */
  get connected(): boolean {
    return this.stores.every((store) => store.work.connected);
  }

  /** When work is due next: pending, retrying or abandoned by a lost process. Null if none waits. */
  async getNextWakeAt(): Promise<Date | null> {
    const remaining = await this.nextWake({ takeOver: true });
    return remaining === null ? null : new Date(this.clock.now() + Math.max(remaining, 0));
  }

  /** The same in milliseconds from now, independent of this process's clock. Rejects only if every database fails. @internal */
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
    if (failures.size === this.stores.length) throw failures.values().next().value;
    const known = wakes.filter((wake) => wake !== null);
    return known.length === 0 ? null : Math.min(...known);
  }

  /** @internal */
  sourceOf(kind: WorkKind, namespace: string, name: string, store: Store): ProcessorSource | null {
    for (const source of this.sources) {
      if (source.store === store && source.kind === kind && source.handles(namespace, name)) return source;
    }
    return null;
  }

  /** Another process has announced a change in this namespace, or in any. @internal */
  heard(namespace: string | null, store: Store): void {
    for (const source of this.sources.filter((source) => source.store === store)) {
      if (namespace === null || source.namespaces.includes(namespace)) source.heard?.();
    }
  }

  /** @internal */
  join(taker: ProcessorTaker, options: { listens: boolean }): () => void {
    const leave = this.stores.map((store) => {
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

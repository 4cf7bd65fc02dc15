import type { Wakeups } from "./engine.ts";
import type { ClaimedHook } from "./hook-records.ts";

/** Something may be due in a namespace, after a delay. A null namespace is any. */
export interface WorkNotice {
  readonly namespace: string | null;
  readonly delayMs: number;
}

/** A place in a running worker, taken before the work is written, so that the row is born claimed. */
export interface Reservation {
  readonly lock: string;
  readonly leaseMs: number;
  /** The row is committed: run it. */
  start(hook: ClaimedHook): void;
  /** The row was not written. */
  cancel(): void;
}

export interface WorkTaker {
  /** Whether this taker will see to it, so that no other process need be told. */
  notice(notice: WorkNotice): boolean;
  reserve(namespace: string, name: string): Reservation | null;
}

/** Notices of later work than this are left to everybody's slow polling. */
const LONGEST_ANNOUNCED_DELAY_MS = 60_000;

/** Where those who write work and those who run it meet, in this process and, through wake-ups, in others. */
export class WorkBoard {
  readonly #wakeups: Wakeups;
  readonly #takers = new Set<WorkTaker>();
  #unsubscribe: (() => void) | undefined;

  constructor(wakeups: Wakeups) {
    this.#wakeups = wakeups;
  }

  /** Whether other processes' work is announced to us, so that polling can be slow. */
  get connected(): boolean {
    return this.#wakeups.connected;
  }

  /** Whether somebody in this process runs work. */
  get attended(): boolean {
    return this.#takers.size > 0;
  }

  join(taker: WorkTaker): () => void {
    this.#takers.add(taker);
    this.#unsubscribe ??= this.#wakeups.subscribe((namespaces) => this.#heard(namespaces));
    return () => {
      this.#takers.delete(taker);
      if (this.#takers.size > 0) return;
      this.#unsubscribe?.();
      this.#unsubscribe = undefined;
    };
  }

  /** Called after the commit that wrote the work. */
  post(notice: WorkNotice): void {
    let taken = false;
    for (const taker of this.#takers) taken = taker.notice(notice) || taken;
    if (taken || notice.delayMs > LONGEST_ANNOUNCED_DELAY_MS || notice.namespace === null) return;
    this.#wakeups.announce(notice.namespace);
  }

  /** A place for work of this name in a worker of this process, if one has room. */
  reserve(namespace: string, name: string): Reservation | null {
    for (const taker of this.#takers) {
      const reservation = taker.reserve(namespace, name);
      if (reservation !== null) return reservation;
    }
    return null;
  }

  #heard(namespaces: readonly string[] | null): void {
    for (const namespace of namespaces ?? [null]) {
      for (const taker of this.#takers) taker.notice({ namespace, delayMs: 0 });
    }
  }
}

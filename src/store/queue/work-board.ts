import type { Wakeups } from "../engine.ts";
import type { ClaimedHook } from "../hooks/hook-records.ts";
import type { ClaimedInstance } from "../instances/instance-records.ts";

/** Something may be due in a namespace, after a delay. A null namespace is any. */
export interface WorkNotice {
  readonly namespace: string | null;
  readonly delayMs: number;
  /** Whether another process says so. */
  readonly remote?: boolean;
}

/** Kinds of claimable rows, and what a claim of one gives. */
export interface ClaimedWork {
  readonly hook: ClaimedHook;
  readonly instance: ClaimedInstance;
}

export type WorkKind = keyof ClaimedWork;

/** Names an announcement other than work. It can't be confused with a namespace. */
export type Topic = `${string}~${string}`;

export function isTopic(name: string): name is Topic {
  return name.includes("~");
}

/** Of the instances in a namespace that have finished. */
export function finishedTopic(namespace: string): Topic {
  return `${namespace}~finished`;
}

/** A slot in a running worker, taken before the work is written, so that the row is born claimed. */
export interface Reservation<Kind extends WorkKind = WorkKind> {
  readonly lock: string;
  readonly leaseMs: number;
  /** The row is committed: run it. */
  start(claimed: ClaimedWork[Kind]): void;
  /**
   * The row was not written. With `giveBack`, that isn't known: it is called until there is no doubt, and gives the row back if
   * it is there. It gives whether it was.
   */
  cancel(giveBack?: () => Promise<boolean>): void;
}

export interface WorkTaker {
  /** Whether this taker will see to it, so that no other process need be told. */
  notice(notice: WorkNotice): boolean;
  reserve<Kind extends WorkKind>(kind: Kind, namespace: string, name: string): Reservation<Kind> | null;
}

/** Receives the announcements of other processes; null means any work. */
type Listener = (names: readonly string[] | null) => void;

/** Work that is due later than this isn't announced to other processes: their polling finds it. */
const LONGEST_ANNOUNCED_DELAY_MS = 60_000;

/** Connects code that writes work with the workers that run it, in this process and, by wake-ups, in others. */
export class WorkBoard {
  readonly #wakeups: Wakeups;
  readonly #takers = new Set<WorkTaker>();
  readonly #listeners = new Set<Listener>();
  #unsubscribe: (() => void) | undefined;

  constructor(wakeups: Wakeups) {
    this.#wakeups = wakeups;
  }

  /** Whether other processes' work is announced to us, so that polling can be slow. */
  get connected(): boolean {
    return this.#wakeups.connected;
  }

  /** Whether there are no other processes: what isn't done here isn't done. */
  get alone(): boolean {
    return this.#wakeups.alone === true;
  }

  /** Whether this process has a worker. */
  get attended(): boolean {
    return this.#takers.size > 0;
  }

  /** `listens`: whether it wants to hear of other processes' work, too, which costs a connection. */
  join(taker: WorkTaker, { listens }: { listens: boolean } = { listens: true }): () => void {
    this.#takers.add(taker);
    if (listens) this.#subscribe();
    return () => {
      this.#takers.delete(taker);
      this.#unsubscribeIfAlone();
    };
  }

  /** Hears what other processes announce, until the returned function is called. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    this.#subscribe();
    return () => {
      this.#listeners.delete(listener);
      this.#unsubscribeIfAlone();
    };
  }

  /** Tells other processes that there is work in a namespace, or of a topic, even if this process takes it too. */
  announce(name: string | Topic): void {
    this.#wakeups.announce(name);
  }

  /** Called after the commit that wrote the work. */
  post(notice: WorkNotice): void {
    let taken = false;
    for (const taker of this.#takers) taken = taker.notice(notice) || taken;
    if (taken || notice.delayMs > LONGEST_ANNOUNCED_DELAY_MS || notice.namespace === null) return;
    this.#wakeups.announce(notice.namespace);
  }

  /** A slot that work of a namespace waits for has become free. */
  freed(namespace: string): void {
    this.post({ namespace, delayMs: 0 });
    this.announce(namespace);
  }

  /** The database was closed. Listeners find out when they use it. */
  close(): void {
    for (const listener of [...this.#listeners]) listener(null);
  }

  /** A slot for work of this name in a worker of this process, if one is free. */
  reserve<Kind extends WorkKind>(kind: Kind, namespace: string, name: string): Reservation<Kind> | null {
    for (const taker of this.#takers) {
      const reservation = taker.reserve(kind, namespace, name);
      if (reservation !== null) return reservation;
    }
    return null;
  }

  #subscribe(): void {
    this.#unsubscribe ??= this.#wakeups.subscribe((names) => this.#heard(names));
  }

  #unsubscribeIfAlone(): void {
    if (this.#takers.size > 0 || this.#listeners.size > 0) return;
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
  }

  #heard(names: readonly string[] | null): void {
    for (const listener of this.#listeners) listener(names);
    for (const namespace of names ?? [null]) {
      for (const taker of this.#takers) taker.notice({ namespace, delayMs: 0, remote: true });
    }
  }
}

import type { Wakeups } from "../../engine.ts";
import { createTransactionContext, type TransactionContext } from "../../transaction-context.ts";
import type { ObjectStorage } from "./object-driver.ts";
import { WriteMutex } from "./write-mutex.ts";

/**
 * Shared by all adapters on one object's storage. While a transaction is open, every write in the object becomes part of it, so
 * all writers use the same mutex.
 */
export interface ObjectAccess {
  readonly mutex: WriteMutex;
  readonly context: TransactionContext | null;
  /** Receives announcements by other adapters in the object. */
  readonly listeners: Set<Parameters<Wakeups["subscribe"]>[0]>;
  /** Called after every write of ours, in the same turn: what it writes is committed together with it. */
  onWrite: (() => void) | null;
}

const accesses = new WeakMap<ObjectStorage, ObjectAccess>();

export function accessTo(storage: ObjectStorage): ObjectAccess {
  let access = accesses.get(storage);
  if (access === undefined) {
    access = { mutex: new WriteMutex(), context: createTransactionContext(), listeners: new Set(), onWrite: null };
    accesses.set(storage, access);
  }
  return access;
}

type Listener = Parameters<Wakeups["subscribe"]>[0];

/** Announcements among the adapters on one object's storage, which no other process can reach. */
export class ObjectWakeups implements Wakeups {
  readonly connected = true;
  readonly #all: Set<Listener>;
  readonly #own = new Set<Listener>();

  constructor(all: Set<Listener>) {
    this.#all = all;
  }

  subscribe(listener: Listener): () => void {
    this.#own.add(listener);
    this.#all.add(listener);
    return () => {
      this.#own.delete(listener);
      this.#all.delete(listener);
    };
  }

  announce(namespace: string): void {
    if (this.#all.size === this.#own.size) return;
    queueMicrotask(() => {
      for (const listener of this.#all) if (!this.#own.has(listener)) listener([namespace]);
    });
  }

  close(): void {
    for (const listener of this.#own) this.#all.delete(listener);
    this.#own.clear();
  }
}

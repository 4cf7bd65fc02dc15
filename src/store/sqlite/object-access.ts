import type { Wakeups } from "../engine.ts";
import type { ObjectStorage } from "./object-driver.ts";
import { createTransactionContext, type TransactionContext } from "./transaction-context.ts";
import { WriteMutex } from "./write-mutex.ts";

/**
 * What everything in one object shares that uses its storage. While a transaction is open there, whatever is written belongs
 * to it, whoever writes it: so everybody waits for the same mutex.
 */
export interface ObjectAccess {
  readonly mutex: WriteMutex;
  readonly context: TransactionContext | null;
  /** Who wants to hear what others in the object announce. */
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

/** Between several databases that are open on one object's storage: nobody else can reach it. */
export class ObjectWakeups implements Wakeups {
  readonly connected = true;
  readonly #everybody: Set<Listener>;
  readonly #own = new Set<Listener>();

  constructor(everybody: Set<Listener>) {
    this.#everybody = everybody;
  }

  subscribe(listener: Listener): () => void {
    this.#own.add(listener);
    this.#everybody.add(listener);
    return () => {
      this.#own.delete(listener);
      this.#everybody.delete(listener);
    };
  }

  announce(namespace: string): void {
    if (this.#everybody.size === this.#own.size) return;
    queueMicrotask(() => {
      for (const listener of this.#everybody) if (!this.#own.has(listener)) listener([namespace]);
    });
  }

  close(): void {
    for (const listener of this.#own) this.#everybody.delete(listener);
    this.#own.clear();
  }
}

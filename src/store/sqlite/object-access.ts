import type { Wakeups } from "../engine.ts";
import type { ObjectStorage } from "./object-storage.ts";
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

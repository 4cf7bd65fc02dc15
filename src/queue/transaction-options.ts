import { InvalidInputError } from "../errors.ts";
import type { Isolation } from "../store/engine.ts";

/** A transaction holds locks, and on SQLite the whole database waits for it: without a timeout of its own it must be short. */
export const DEFAULT_TRANSACTION_TIMEOUT_MS = 10_000;

const ISOLATIONS: readonly unknown[] = ["read committed", "repeatable read", "serializable"] satisfies Isolation[];

export function checkIsolation(isolation: Isolation | undefined, code: string): void {
  if (isolation === undefined || ISOLATIONS.includes(isolation)) return;
  throw new InvalidInputError(code, `isolation must be one of ${ISOLATIONS.join(", ")}.`);
}

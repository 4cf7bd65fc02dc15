import type { AsyncTransaction } from "../store/foreign-transaction.ts";
import { fromClient, invalidTransaction } from "./from-client.ts";

interface PgliteTransaction {
  query(text: string, parameters?: (string | null)[]): Promise<{ rows: unknown[] }>;
  rollback(): Promise<void>;
  readonly closed: boolean;
}

/**
 * A transaction of PGlite.
 *
 * @example
 * await pglite.transaction(async (tx) => {
 *   await tx.query("insert into orders (id) values ($1)", [order.id]);
 *   await app.within(fromPglite(tx)).triggerHook("sendMail", order);
 * });
 */
export function fromPglite(transaction: PgliteTransaction): AsyncTransaction {
  if (typeof transaction?.query !== "function" || typeof transaction.rollback !== "function") {
    throw invalidTransaction("fromPglite takes the transaction that pglite.transaction gives to its function.");
  }
  return fromClient({
    dialect: "postgres",
    isOpen: () => !transaction.closed,
    execute: async (text, parameters) => (await transaction.query(text, parameters)).rows as object[],
  });
}

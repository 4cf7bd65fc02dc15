import { InvalidInputError } from "../errors.ts";
import type { SyncTransaction } from "../store/foreign-transaction.ts";
import type { SqlRow } from "../store/sql-value.ts";

interface ObjectConnection {
  readonly sql: { exec(text: string, ...parameters: never[]): { toArray(): unknown[] } };
  transactionSync(body: () => unknown): unknown;
}

/**
 * The transaction that is open on the storage of a Durable Object. There, everything that is written without waiting in between
 * is committed together; what must be undone if something throws belongs in `transactionSync`.
 *
 * @example
 * ctx.storage.transactionSync(() => {
 *   ctx.storage.sql.exec("insert into orders (id) values (?)", order.id);
 *   this.app.within(fromDurableObject(ctx.storage)).triggerHook("sendMail", order);
 * });
 */
export function fromDurableObject(storage: ObjectConnection): SyncTransaction {
  if (typeof storage?.sql?.exec !== "function" || typeof storage.transactionSync !== "function") {
    throw new InvalidInputError("transaction.invalid", "fromDurableObject takes the storage of an object with SQLite.");
  }
  return {
    mode: "sync",
    dialect: "sqlite",
    isOpen: () => true,
    execute: (text, parameters) => storage.sql.exec(text, ...(parameters as never[])).toArray() as SqlRow[],
  };
}

import type { AsyncTransaction, SyncTransaction } from "../store/foreign-transaction.ts";
import { fromClient, invalidTransaction } from "./from-client.ts";
import { fromBetterSqlite3 } from "./from-sqlite.ts";

/** A transaction on PostgreSQL, with any of its drivers. */
interface DrizzlePostgres {
  execute(query: never): PromiseLike<unknown>;
  rollback(): never;
}

/** A transaction on better-sqlite3. */
interface DrizzleSqlite {
  all(query: never): unknown[];
  rollback(): never;
}

/**
 * A transaction of Drizzle: on PostgreSQL (pg, postgres.js and others), or on better-sqlite3.
 *
 * @example
 * await db.transaction(async (tx) => {
 *   await tx.insert(orders).values({ id: order.id });
 *   await app.within(fromDrizzle(tx)).triggerHook("sendMail", order);
 * });
 */
export function fromDrizzle(transaction: DrizzleSqlite): SyncTransaction;
export function fromDrizzle(transaction: DrizzlePostgres): AsyncTransaction;
export function fromDrizzle(transaction: DrizzlePostgres | DrizzleSqlite): AsyncTransaction | SyncTransaction {
  if (typeof transaction?.rollback !== "function") throw notDrizzle();
  if ("execute" in transaction) {
    return fromClient({
      dialect: "postgres",
      execute: async (text, parameters) => rowsOf(await transaction.execute(queryOf(text, parameters))),
    });
  }
  const { client } = (transaction as unknown as { session: { client?: SqliteClient } }).session;
  if (typeof client?.inTransaction !== "boolean") throw notDrizzle();
  return fromBetterSqlite3(client);
}

type SqliteClient = Parameters<typeof fromBetterSqlite3>[0];

/** A query that is compiled already, as Drizzle asks a query for it: nothing of Drizzle's is needed to make one. */
function queryOf(sql: string, params: (string | null)[]): never {
  const query = { getSQL: () => query, toQuery: () => ({ sql, params }) };
  return query as never;
}

/** The driver's own result: most have `rows`, that of postgres.js is an array. */
function rowsOf(result: unknown): object[] {
  return Array.isArray(result) ? Array.from(result as object[]) : (result as { rows: object[] }).rows;
}

function notDrizzle() {
  return invalidTransaction(
    "fromDrizzle takes the transaction that db.transaction gives to its function, of PostgreSQL or better-sqlite3.",
  );
}

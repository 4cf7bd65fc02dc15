import type { AsyncTransaction, SyncTransaction } from "../store/foreign-transaction.ts";
import { fromClient, invalidTransaction } from "./from-client.ts";
import { onPgEnd } from "./from-pg.ts";
import { fromPostgresJs } from "./from-postgres-js.ts";
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
  const { client } = (transaction as unknown as { session: { client?: DriverClient } }).session;
  if ("execute" in transaction) {
    // After its end, Drizzle sends statements on as before: the driver is asked whether it has ended.
    if (typeof client?.unsafe === "function") return fromPostgresJs(client as PostgresJsTransaction);
    const execute = async (text: string, parameters: (string | null)[]) =>
      rowsOf(await transaction.execute(queryOf(text, parameters)));
    return { ...fromClient({ dialect: "postgres", execute }), onEnd: (listener) => onPgEnd(client, listener) };
  }
  if (typeof client?.inTransaction !== "boolean") throw notDrizzle();
  return fromBetterSqlite3(client as SqliteClient);
}

type SqliteClient = Parameters<typeof fromBetterSqlite3>[0];
type PostgresJsTransaction = Parameters<typeof fromPostgresJs>[0];
type DriverClient = Partial<SqliteClient & PostgresJsTransaction> & { readonly connection?: unknown };

/** A query that is compiled already, as Drizzle asks a query for it: nothing of Drizzle's is needed to make one. */
function queryOf(sql: string, params: (string | null)[]): never {
  const query = { getSQL: () => query, toQuery: () => ({ sql, params }) };
  return query as never;
}

/** The driver's own result: most have `rows`. */
function rowsOf(result: unknown): object[] {
  return Array.isArray(result) ? Array.from(result as object[]) : (result as { rows: object[] }).rows;
}

function notDrizzle() {
  return invalidTransaction(
    "fromDrizzle takes the transaction that db.transaction gives to its function, of PostgreSQL or better-sqlite3.",
  );
}

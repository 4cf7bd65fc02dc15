import type { AsyncTransaction } from "../store/foreign-transaction.ts";
import { fromClient, invalidTransaction } from "./from-client.ts";

/** The `sql` that `sql.begin` and `savepoint` give to their functions. */
interface PostgresJsTransaction {
  unsafe(text: string, parameters?: (string | null)[]): PromiseLike<readonly object[]>;
  savepoint(...given: never[]): unknown;
}

/**
 * A transaction of `postgres` (postgres.js).
 *
 * @example
 * await sql.begin(async (sql) => {
 *   await sql`insert into orders (id) values (${order.id})`;
 *   await app.within(fromPostgresJs(sql)).triggerHook("sendMail", order);
 * });
 */
export function fromPostgresJs(sql: PostgresJsTransaction): AsyncTransaction {
  if (typeof sql?.unsafe !== "function" || typeof sql.savepoint !== "function") {
    throw invalidTransaction(
      "fromPostgresJs takes the sql that sql.begin gives to its function: any other runs each query on any connection.",
    );
  }
  return fromClient({
    dialect: "postgres",
    // An array of rows that also has the columns and the count: only its rows matter.
    execute: async (text, parameters) => Array.from(await sql.unsafe(text, parameters)),
  });
}

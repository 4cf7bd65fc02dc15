import type { AsyncTransaction } from "../store/foreign-transaction.ts";
import { fromClient, invalidTransaction, transactionEnded } from "./from-client.ts";

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
    execute: async (text, parameters) => Array.from(await answered(sql, sql.unsafe(text, parameters))),
  });
}

const ASK_AFTER_MS = 1000;

/**
 * A statement that is given to postgres.js while the end of its transaction is under way is never sent, and never answered.
 * Answers come in order, so if a later statement is answered first, this one was dropped.
 */
function answered<Rows>(sql: PostgresJsTransaction, statement: PromiseLike<Rows>): Promise<Rows> {
  return new Promise((resolve, reject) => {
    const settle = <Given>(tell: (given: Given) => void) => {
      return (given: Given) => {
        clearTimeout(timer);
        tell(given);
      };
    };
    const dropped = settle(() => reject(transactionEnded(undefined)));
    const ask = (delayMs: number) => {
      timer = setTimeout(() => {
        ask(delayMs * 2); // this one may be dropped, too
        sql.unsafe("select 1").then(dropped, dropped);
      }, delayMs);
    };
    let timer: ReturnType<typeof setTimeout>;
    ask(ASK_AFTER_MS);
    statement.then(settle(resolve), settle(reject));
  });
}

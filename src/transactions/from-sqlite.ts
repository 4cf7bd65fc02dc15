import { InvalidInputError } from "../errors.ts";
import type { SyncTransaction } from "../store/foreign-transaction.ts";
import type { SqlRow } from "../store/sql-value.ts";

interface SqliteConnection {
  prepare(text: string): {
    all(...parameters: never[]): unknown[];
    run(...parameters: never[]): unknown;
    readonly reader?: boolean;
  };
}

/**
 * The transaction that is open on a database of `node:sqlite`.
 *
 * @example
 * database.exec("begin");
 * database.prepare("insert into orders (id) values (?)").run(order.id);
 * app.within(fromNodeSqlite(database)).triggerHook("sendMail", order);
 * database.exec("commit");
 */
export function fromNodeSqlite(database: SqliteConnection & { readonly isTransaction: boolean }): SyncTransaction {
  return fromSqlite("fromNodeSqlite", database, () => {
    try {
      return database.isTransaction;
    } catch {
      return undefined; // it was closed
    }
  });
}

/**
 * The transaction that is open on a database of `better-sqlite3`.
 *
 * @example
 * database.transaction(() => {
 *   database.prepare("insert into orders (id) values (?)").run(order.id);
 *   app.within(fromBetterSqlite3(database)).triggerHook("sendMail", order);
 * })();
 */
export function fromBetterSqlite3(database: SqliteConnection & { readonly inTransaction: boolean }): SyncTransaction {
  return fromSqlite("fromBetterSqlite3", database, () => database.inTransaction);
}

function fromSqlite(name: string, database: SqliteConnection, isOpen: () => unknown): SyncTransaction {
  if (typeof database?.prepare !== "function" || typeof isOpen() !== "boolean") {
    throw new InvalidInputError("transaction.invalid", `${name} takes an open database of that library.`);
  }
  return {
    mode: "sync",
    dialect: "sqlite",
    isOpen: () => isOpen() === true,
    execute: (text, parameters) => {
      const statement = database.prepare(text);
      if (statement.reader !== false) return statement.all(...(parameters as never[])) as SqlRow[];
      statement.run(...(parameters as never[]));
      return [];
    },
  };
}

import { InvalidInputError } from "../../errors.ts";
import type { AsyncTransaction } from "../foreign-transaction.ts";
import type { SqlRow, SqlValue } from "../sql-value.ts";
import type { DatabaseIdentity } from "./connection/database-identity.ts";
import { OTHER_DATABASE, readTransactionId } from "./sql/foreign-inserts.ts";

/**
 * The application's transaction, with what every statement for it needs: the identity of our database, and the id of the
 * transaction that it must be part of. Outside of that transaction, by itself or in the next one on the connection, it writes
 * nothing.
 *
 * The first statement tells the id. Where the library doesn't know that a transaction is open, a statement asks for the id
 * before. It is sent as soon as a call begins: a call that isn't awaited may write later, when the connection has begun another
 * transaction.
 */
export function foreignSession(transaction: AsyncTransaction, identity: DatabaseIdentity): AsyncTransaction {
  /** The transaction that something was written in. */
  let known: string | undefined;
  /** The id of what the connection was in when a call began. Outside of a transaction, it is that of no later statement. */
  let asked: Promise<string> | undefined;

  const ask = () => {
    const id = transaction.execute(readTransactionId().text, []).then((rows) => String(resultOf(rows)));
    id.catch(() => {
      if (asked === id) asked = undefined;
    });
    return id;
  };
  const write = async (text: string, parameters: readonly SqlValue[], own: string) => {
    const open = transaction.isOpen?.() ?? null;
    if (open === false) return [];
    if (known !== undefined || open) return transaction.execute(text, [...parameters, own, known ?? null]);
    asked ??= ask();
    return transaction.execute(text, [...parameters, own, await asked]);
  };
  return {
    ...transaction,
    enter: () => {
      if (known === undefined && (transaction.isOpen?.() ?? null) === null) asked ??= ask();
    },
    confirm: (id) => {
      known ??= id;
    },
    execute: async (text, parameters) => {
      const own = await identity.get();
      let rows = await write(text, parameters, own);
      if (resultOf(rows) === OTHER_DATABASE) {
        const now = await identity.learn(); // ours may have been restored since
        if (now !== own) rows = await write(text, parameters, now);
        if (resultOf(rows) === OTHER_DATABASE) throw otherDatabase();
      }
      if (resultOf(rows) === null) {
        asked = undefined;
        if (known !== undefined) throw otherTransaction();
      }
      return rows;
    },
  };
}

function resultOf(rows: readonly SqlRow[]): unknown {
  return rows[0]?.["result"] ?? null;
}

function otherTransaction(): InvalidInputError {
  return new InvalidInputError(
    "transaction.not_open",
    "The transaction of this object has ended, so nothing was written. Await every call before the transaction ends, and call " +
      "within again for the next one.",
  );
}

function otherDatabase(): InvalidInputError {
  return new InvalidInputError(
    "transaction.other_database",
    "This transaction belongs to a database that isn't the application's, so nothing was written. Begin it in the database " +
      "that perdure() was given, or use a plain trigger after your commit.",
  );
}

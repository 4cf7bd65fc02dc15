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
    const id = transaction.execute(readTransactionId().text, []).then((rows) => resultOf(readable(rows)) as string);
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
      let rows = readable(await write(text, parameters, own));
      if (resultOf(rows) === OTHER_DATABASE) {
        const now = await identity.learn(); // ours may have been restored since
        if (now !== own) rows = readable(await write(text, parameters, now));
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

/** What the statements give: the id of a transaction, by itself or in an object, or that there is none. */
const RESULT = new RegExp(`^(\\d+|\\{.*\\}|${OTHER_DATABASE})$`, "s");

/** Refuses what a parser of the application's has made of the result, instead of taking it for an id. */
function readable(rows: SqlRow[]): SqlRow[] {
  const result = resultOf(rows);
  if (result === null || (typeof result === "string" && RESULT.test(result))) return rows;
  throw new InvalidInputError(
    "transaction.invalid",
    "The client of this transaction doesn't give a text of PostgreSQL as it is: one of its parsers changes it. Roll the transaction " +
      "back, and leave the type text out of them, or wrap the client with fromClient.",
  );
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

import { InvalidInputError } from "../../errors.ts";
import type { AsyncTransaction } from "../foreign-transaction.ts";
import type { SqlRow, SqlValue } from "../sql-value.ts";
import type { DatabaseIdentity } from "./connection/database-identity.ts";
import { markTransaction, OTHER_DATABASE } from "./sql/foreign-inserts.ts";

/**
 * The application's transaction, with what every statement for it needs: the identity of our database, and whether to look for the
 * mark that only an open transaction keeps. Where the library knows that a transaction is open, it isn't marked, which saves a
 * statement; that is asked right before the statement is sent, because a call that isn't awaited may come after the transaction's
 * end. A savepoint that is rolled back takes the mark with it, so a statement that misses it is sent again after marking.
 *
 * The mark is sent as soon as a call begins. A call that isn't awaited may write later, when the connection has begun another
 * transaction: it misses the mark, and is refused there.
 */
export function foreignSession(transaction: AsyncTransaction, identity: DatabaseIdentity): AsyncTransaction {
  const mark = crypto.randomUUID();
  /** The id of the transaction that was marked. */
  let marked: Promise<unknown> | undefined;

  const setMark = () => {
    const id = transaction.execute(markTransaction().text, [mark]).then(resultOf);
    id.catch(() => {
      if (marked === id) marked = undefined;
    });
    return id;
  };
  const write = async (text: string, parameters: readonly SqlValue[], own: string) => {
    const open = transaction.isOpen?.() ?? null;
    if (open === false) return [];
    if (open) return transaction.execute(text, [...parameters, own, null]);
    marked ??= setMark();
    const before = await marked;
    const send = () => transaction.execute(text, [...parameters, own, mark]);
    const rows = await send();
    if (resultOf(rows) !== null) return rows;
    const again = setMark();
    const isSame = (await again) === before;
    marked = isSame ? again : undefined;
    if (isSame) return send();
    throw otherTransaction();
  };
  return {
    ...transaction,
    enter: () => {
      if ((transaction.isOpen?.() ?? null) === null) marked ??= setMark();
    },
    execute: async (text, parameters) => {
      const own = await identity.get();
      const rows = await write(text, parameters, own);
      if (resultOf(rows) !== OTHER_DATABASE) return rows;
      const now = await identity.learn(); // ours may have been restored since
      const again = now === own ? rows : await write(text, parameters, now);
      if (resultOf(again) === OTHER_DATABASE) throw otherDatabase();
      return again;
    },
  };
}

function resultOf(rows: readonly SqlRow[]): unknown {
  return rows[0]?.["result"] ?? null;
}

function otherTransaction(): InvalidInputError {
  return new InvalidInputError(
    "transaction.not_open",
    "The connection has no open transaction, or another one than when this call began, so nothing was written. Await every call " +
      "before the transaction ends, and call within anew for the next one.",
  );
}

function otherDatabase(): InvalidInputError {
  return new InvalidInputError(
    "transaction.other_database",
    "This transaction is one of another database than the application's, so nothing was written. Begin it in the database that " +
      "perdure() was given, or use a plain trigger after your commit.",
  );
}

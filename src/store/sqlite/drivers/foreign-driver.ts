import type { SyncTransaction } from "../../foreign-transaction.ts";
import type { SqliteAccess, SqliteDriver } from "./driver.ts";
import { withoutNumbers } from "./placeholders.ts";

/** The connection of the application's transaction, as a driver that runs statements there and begins nothing. */
export function foreignDriver(transaction: SyncTransaction): SqliteDriver {
  const all = (text: string, parameters: readonly unknown[]) => {
    const statement = withoutNumbers(text);
    return transaction.execute(statement.text, statement.bind(parameters) as never[]);
  };
  const refuse = () => {
    throw new Error("The application begins and ends its own transaction.");
  };
  return {
    handle: transaction,
    execute: refuse,
    all,
    run: (text, parameters) => {
      all(text, parameters);
      return Number(all("select changes() as changes", [])[0]?.["changes"]);
    },
    begin: refuse,
    inTransaction: () => transaction.isOpen(),
    close: () => {},
  };
}

/** Statements run at once, in the transaction that is open. */
export function foreignAccess(driver: SqliteDriver, now: () => number): SqliteAccess {
  const run = async <Result>(body: () => Result) => body();
  return { driver, now, read: run, readSnapshot: run, write: run };
}

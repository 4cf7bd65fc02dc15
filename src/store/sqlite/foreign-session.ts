import { InvalidInputError } from "../../errors.ts";
import type { SyncTransaction } from "../foreign-transaction.ts";
import type { SqlRow, SqlValue } from "../sql-value.ts";

type Ask = (text: string, parameters: SqlValue[]) => readonly SqlRow[];

/** The application's transaction. Before its first statement it is made sure that its connection has our database open. */
export function foreignSession(transaction: SyncTransaction, ask: Ask): SyncTransaction {
  let checked = false;
  return {
    ...transaction,
    execute: (text, parameters) => {
      if (!checked && !haveOneInCommon(ask, transaction.execute)) throw otherDatabase();
      checked = true;
      return transaction.execute(text, parameters);
    },
  };
}

/**
 * SQLite names a file by its full path, without links. Databases in memory have no name: those were migrated at different
 * times.
 */
function haveOneInCommon(ours: Ask, theirs: Ask): boolean {
  const own = filesOf(ours)[0] ?? "";
  if (own !== "") return filesOf(theirs).includes(own);
  return filesOf(theirs)[0] === "" && migratedAt(ours) === migratedAt(theirs);
}

function filesOf(ask: Ask): unknown[] {
  return ask("select file from pragma_database_list order by seq", []).map(({ file }) => file ?? "");
}

function migratedAt(ask: Ask): unknown {
  const [table] = ask("select 1 as known from sqlite_schema where name = 'perdure_migration'", []);
  if (table === undefined) return null;
  return Number(ask("select min(applied_at) as at from perdure_migration", [])[0]?.["at"]);
}

function otherDatabase(): InvalidInputError {
  return new InvalidInputError(
    "transaction.other_database",
    "This connection has a database open that isn't the application's, so nothing was written. Open the file that perdure() was " +
      "given.",
  );
}

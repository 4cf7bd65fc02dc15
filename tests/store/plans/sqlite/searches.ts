import { DatabaseSync } from "node:sqlite";
import { sqliteMigrations } from "../../../../src/store/sqlite/index.ts";

/** What a statement is for, its SQL, and each search, scan and sort in the order in which SQLite plans them. */
export type PlannedStatement = readonly [purpose: string, sql: string, steps: readonly string[]];

export interface PlannedTables {
  /** The rows that `fill` writes, as they are called in a test's title. */
  readonly rows: string;
  /** Fills the tables, and gathers statistics of them. */
  readonly fill: (database: DatabaseSync) => void;
  readonly statements: readonly PlannedStatement[];
}

/** Steps over lists that came as parameters, over constants and over the names in a recursion: none of them reads a table. */
const NO_TABLE = /VIRTUAL TABLE|SUBQUERY|^SCAN (workflow|other|CONSTANT ROW|\(subquery)/;

export function openDatabase(): DatabaseSync {
  const database = new DatabaseSync(":memory:");
  database.exec(sqliteMigrations());
  return database;
}

/** The searches, scans and sorts that SQLite plans for a statement. */
export function stepsOf(database: DatabaseSync, sql: string): string[] {
  return database
    .prepare(`explain query plan ${sql}`)
    .all()
    .map(({ detail }) => String(detail))
    .filter((detail) => !NO_TABLE.test(detail))
    .flatMap((detail) => searchOf(detail) ?? (isExpensive(detail) ? detail : []));
}

/** The index that a step searches. The index of a primary key is called so, as in tables that are sorted by it. */
function searchOf(detail: string): string | undefined {
  const [, search] = /^SEARCH .* USING (.*)$/.exec(detail) ?? [];
  return search?.replace(/(COVERING )?INDEX sqlite_autoindex_\w+_1/, "PRIMARY KEY");
}

function isExpensive(detail: string): boolean {
  return /^SCAN|TEMP B-TREE FOR (LAST TERM OF )?ORDER BY/.test(detail);
}

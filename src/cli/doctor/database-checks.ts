import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";
import { findSchemaProblem } from "../../store/migrate-store.ts";
import type { SqlRow, SqlValue } from "../../store/sql-value.ts";
import type { Store } from "../../store/store.ts";
import { describeFailure } from "../failures.ts";
import { type Finding, failed, ok, warning } from "./finding.ts";

/** The oldest release that is tested. */
const OLDEST_POSTGRES = 13;
const MOST_SKEW_MS = 1000;
/** Fewer dead rows or free pages aren't worth a warning. */
const LEAST_ROWS = 10_000;
const LEAST_PAGES = 1000;

type Ask = (sql: string, parameters?: readonly SqlValue[]) => Promise<SqlRow[]>;

/** Checks what only a process with the database itself can see. If it can't be reached, that is the only finding. */
export async function checkDatabase(store: Store, address: string): Promise<Finding[]> {
  const { engine } = store;
  const ask: Ask = (sql, parameters = []) => engine.transaction((transaction) => transaction.query(sql, parameters));
  try {
    const problem = await findSchemaProblem(engine, []);
    const reachable = ok("database", `${address} answers`);
    const next = "Bring it up to date: perdure migrate; or upgrade perdure, if the database is newer.";
    const schema =
      problem === null ? ok("schema", "the tables are those of this version") : failed("schema", problem, next);
    const others = engine.dialect === "postgres" ? await checkPostgres(ask) : await checkSqlite(ask, address);
    return [reachable, schema, ...others];
  } catch (error) {
    const { message } = describeFailure(error);
    return [
      failed(
        "database",
        `${address}: ${message}`,
        "Check the address, the password, and that the database accepts connections.",
      ),
    ];
  }
}

async function checkPostgres(ask: Ask): Promise<Finding[]> {
  return [
    await postgresVersion(ask),
    await postgresRights(ask),
    await postgresClock(ask),
    ...(await postgresBloat(ask)),
  ];
}

async function postgresVersion(ask: Ask): Promise<Finding> {
  const [row] = await ask(
    "select current_setting('server_version') as version, current_setting('server_version_num')::int as number",
  );
  const version = `PostgreSQL ${row?.["version"]}`;
  const major = Math.floor(Number(row?.["number"]) / 10_000);
  if (major >= OLDEST_POSTGRES) return ok("version", version);
  return warning(
    "version",
    `${version} is older than what Perdure is tested with`,
    `Use PostgreSQL ${OLDEST_POSTGRES} or newer.`,
  );
}

/** Reads the catalog: indexes pg_namespace_nspname_index and pg_class_relname_nsp_index. */
const RIGHTS = `
select c.relname as name
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname = 'perdure' and c.relkind in ('r', 'p') and c.relname <> 'migration'
  and not (has_table_privilege(c.oid, 'select') and has_table_privilege(c.oid, 'insert')
    and has_table_privilege(c.oid, 'update') and has_table_privilege(c.oid, 'delete'))
order by c.relname`;

async function postgresRights(ask: Ask): Promise<Finding> {
  const [usage] = await ask(
    "select has_schema_privilege(oid, 'usage') as may from pg_namespace where nspname = 'perdure'",
  );
  if (usage?.["may"] === false) {
    return failed("rights", "this user may not use the schema perdure", "Grant usage on schema perdure to it.");
  }
  const names = (await ask(RIGHTS)).map((row) => row["name"]);
  if (names.length === 0) return ok("rights", "this user may read and write all tables");
  const next = "Grant select, insert, update and delete on all tables in schema perdure to it.";
  return failed("rights", `this user may not write ${names.join(", ")}`, next);
}

async function postgresClock(ask: Ask): Promise<Finding> {
  const from = Date.now();
  const [row] = await ask("select extract(epoch from clock_timestamp()) * 1000 as now");
  const to = Date.now();
  const now = Number(row?.["now"]);
  const skew = now < from ? now - from : Math.max(0, now - to);
  if (Math.abs(skew) <= MOST_SKEW_MS) return ok("clock", "the clocks here and of the database agree");
  const message = `the database's clock is ${Math.abs(Math.round(skew))} ms ${skew > 0 ? "ahead" : "behind"}`;
  return warning("clock", message, "Perdure uses the database's; synchronize both, for times that your code computes.");
}

/** Reads the statistics of the tables of one schema. */
const BLOAT = `
select relname as name, n_live_tup as live, n_dead_tup as dead, pg_total_relation_size(relid) as bytes
from pg_stat_user_tables where schemaname = 'perdure' order by n_dead_tup desc`;

async function postgresBloat(ask: Ask): Promise<Finding[]> {
  const tables = await ask(BLOAT);
  const bytes = tables.reduce((sum, row) => sum + Number(row["bytes"]), 0);
  const bloated = tables.filter((row) => Number(row["dead"]) > Math.max(LEAST_ROWS, Number(row["live"])));
  if (bloated.length === 0) return [ok("bloat", `the tables take ${showBytes(bytes)}, and few rows are dead`)];
  const next =
    "Look for transactions that stay open (pg_stat_activity), which keep autovacuum from removing dead rows.";
  return bloated.map((row) =>
    warning("bloat", `${row["name"]} has ${row["dead"]} dead rows and ${row["live"]} live ones`, next),
  );
}

async function checkSqlite(ask: Ask, path: string): Promise<Finding[]> {
  const [row] = await ask("select sqlite_version() as version");
  return [ok("version", `SQLite ${row?.["version"]}`), sqliteRights(path), await sqliteBloat(ask)];
}

/** SQLite writes further files beside the database. */
function sqliteRights(path: string): Finding {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    accessSync(dirname(path), constants.W_OK);
    return ok("rights", "this user may write the file and its directory");
  } catch {
    const message = "this user may not write the file, or not its directory";
    return failed("rights", message, "Give it both: SQLite writes a log beside the file.");
  }
}

async function sqliteBloat(ask: Ask): Promise<Finding> {
  const [row] = await ask(
    "select (select page_count from pragma_page_count) as pages, (select freelist_count from pragma_freelist_count) as free, " +
      "(select page_size from pragma_page_size) as size",
  );
  const [pages, free, size] = ["pages", "free", "size"].map((name) => Number(row?.[name])) as [number, number, number];
  const total = showBytes(pages * size);
  if (free <= Math.max(LEAST_PAGES, pages / 2)) return ok("bloat", `the file has ${total}, and little of it is free`);
  return warning(
    "bloat",
    `${showBytes(free * size)} of ${total} are free`,
    "SQLite reuses them; `vacuum` gives them back.",
  );
}

function showBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const power = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log(bytes) / Math.log(1000)));
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}

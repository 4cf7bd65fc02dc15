import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import type { Engine } from "../harness/contender.ts";
import { type CopiedTable, type CopyDialect, copyInstanceSql, hasTimes } from "./copy-instances.ts";

const ROWS_PER_STATEMENT = 50_000;

/** Fills a database by plain SQL: running a million workflows would take far longer. */
export interface Filler extends AsyncDisposable {
  /** Copies an instance, its journal and its other dependents this many times. */
  copy(id: string, count: number): Promise<void>;
  /** Maintenance that the database would do by itself when it has grown. */
  settle(): Promise<void>;
}

export async function openFiller(engine: Engine, database: string): Promise<Filler> {
  return engine === "sqlite" ? openSqlite(database) : await openPostgres(database);
}

const POSTGRES: CopyDialect = {
  series: "generate_series($1::bigint, $2::bigint) as series (number)",
  digits: "lpad(series.number::text, 16, '0')",
  ref: "$3",
  count: "$4::bigint",
};

const TABLES_IN_POSTGRES = `
select quote_ident(table_schema) || '.' || quote_ident(table_name) as name,
  json_agg(quote_ident(column_name) order by ordinal_position) filter (where is_generated = 'NEVER') as columns
from information_schema.columns where table_schema = 'perdure' group by table_schema, table_name
having bool_or(column_name = 'ref')`;

async function openPostgres(url: string): Promise<Filler> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {}); // the failing query reports it
  await client.connect();
  const { rows: tables } = await client.query<CopiedTable>(TABLES_IN_POSTGRES);
  return {
    async copy(id, count) {
      const found = await client.query<{ ref: string }>(`select ref from ${instanceTable(tables)} where id = $1`, [id]);
      const ref = found.rows[0]?.ref ?? "";
      for (let first = 1; first <= count; first += ROWS_PER_STATEMENT) {
        const last = Math.min(count, first + ROWS_PER_STATEMENT - 1);
        for (const table of tables) {
          await client.query(copyInstanceSql(table, POSTGRES), parametersOf(table, first, last, ref, count));
        }
      }
    },
    async settle() {
      await client.query("vacuum (analyze)");
      await client.query("checkpoint").catch(() => {}); // needs a privilege; without it, more noise
    },
    [Symbol.asyncDispose]: () => client.end(),
  };
}

const SQLITE: CopyDialect = {
  series: "series",
  digits: "printf('%016d', series.number)",
  ref: "?3",
  count: "?4",
};

const SERIES_IN_SQLITE = `with recursive series (number) as (
  select ?1 union all select number + 1 from series where number < ?2
) `;

const TABLES_IN_SQLITE = `
select name, (select json_group_array(info.name) from pragma_table_xinfo(tables.name) as info where info.hidden = 0) as columns
from sqlite_schema as tables where type = 'table' and exists (select from_info.name from pragma_table_xinfo(tables.name) as from_info where from_info.name = 'ref')`;

function openSqlite(path: string): Filler {
  const database = new DatabaseSync(path, { timeout: 5000 });
  const rows = database.prepare(TABLES_IN_SQLITE).all() as { name: string; columns: string }[];
  const tables = rows.map(({ name, columns }): CopiedTable => ({ name, columns: JSON.parse(columns) as string[] }));
  return {
    async copy(id, count) {
      const found = database.prepare(`select ref from ${instanceTable(tables)} where id = ?`).get(id);
      const ref = String(found?.["ref"]);
      for (let first = 1; first <= count; first += ROWS_PER_STATEMENT) {
        const last = Math.min(count, first + ROWS_PER_STATEMENT - 1);
        database.exec("begin immediate");
        for (const table of tables) {
          const statement = database.prepare(SERIES_IN_SQLITE + copyInstanceSql(table, SQLITE));
          statement.run(...parametersOf(table, first, last, ref, count));
        }
        database.exec("commit");
      }
    },
    settle: async () => database.exec("pragma wal_checkpoint(truncate)"),
    [Symbol.asyncDispose]: async () => database.close(),
  };
}

/** The one whose rows callers name by their ids. */
function instanceTable(tables: readonly CopiedTable[]): string {
  const found = tables.find(({ columns }) => ["ref", "namespace", "id"].every((column) => columns.includes(column)));
  if (found === undefined) throw new Error("the benchmark finds no table of instances");
  return found.name;
}

/** The last one is only for tables with times: neither database accepts an unused parameter. */
function parametersOf({ columns }: CopiedTable, first: number, last: number, ref: string, count: number) {
  return hasTimes(columns) ? [first, last, ref, count] : [first, last, ref];
}

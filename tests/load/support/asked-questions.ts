import { existsSync, readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { vi } from "vitest";
import { Connection } from "../../../src/store/postgres/connection/connection.ts";
import { sqlite } from "../../../src/store/sqlite/index.ts";
import type { DatabaseAdapter } from "../../../src/store/store.ts";
import { explain, prepare, type RecordedStatement } from "../../store/plans/postgres/recorded-statements.ts";
import { openCountingDatabase } from "../../support/counting-database.ts";
import type { TestEngine, TestStore } from "../../support/engines.ts";

/** What the statements of a question read. */
export interface Reads {
  readonly statements: number;
  /** Steps of plans that read a whole table or index, rather than a part of it. */
  readonly scans: readonly string[];
  /** Rows of tables and entries of indexes; null where the database doesn't tell. */
  readonly rows: number | null;
  /** Of pages; null where the system doesn't tell. Entries that an index could skip by themselves are no rows. */
  readonly megabytes: number | null;
}

/** A database whose statements are noted while a question is asked. */
export interface Watched {
  readonly adapter: DatabaseAdapter;
  watch(ask: () => Promise<void>): Promise<Reads>;
  close(): Promise<void>;
}

export async function watchDatabase({ dialect }: TestEngine, database: TestStore): Promise<Watched> {
  return dialect === "sqlite" ? watchSqlite(database.location) : watchPostgres(database);
}

/** Of PostgreSQL. */
const PAGE_MEGABYTES = 8192 / 1e6;
/** What this process has read from files, among which SQLite's are, but for pages that it still has in memory. */
const IO = "/proc/self/io";

function megabytesRead(): number | null {
  if (!existsSync(IO)) return null;
  return Number(/rchar: (\d+)/.exec(readFileSync(IO, "utf8"))?.[1]) / 1e6;
}

function watchSqlite(path: string): Watched {
  const texts: string[] = [];
  const handle = openCountingDatabase(path, texts);
  const adapter = sqlite(handle);
  const planner = new DatabaseSync(path, { readOnly: true });
  return {
    adapter,
    watch: async (ask) => {
      texts.length = 0;
      const before = megabytesRead();
      await ask();
      const after = megabytesRead();
      const asked = [...new Set(texts)].filter((text) => !/^\s*(begin|commit|pragma)/i.test(text));
      const steps = asked.flatMap((text) => planner.prepare(`explain query plan ${text}`).all());
      const details = steps.map((step) => (step as { detail: string }).detail);
      return {
        statements: asked.length,
        scans: details.filter((detail) => /^SCAN perdure_/.test(detail)),
        rows: null,
        megabytes: before === null || after === null ? null : after - before,
      };
    },
    close: async () => {
      await adapter.store.close();
      planner.close();
      handle.close();
    },
  };
}

async function watchPostgres({ adapter, location }: TestStore): Promise<Watched> {
  const recorded: RecordedStatement[] = [];
  const { run } = Connection.prototype;
  const spy = vi.spyOn(Connection.prototype, "run").mockImplementation(function (
    this: Connection,
    ...parameters: Parameters<Connection["run"]>
  ) {
    const [statement, values] = parameters;
    recorded.push({ statement, values });
    return run.apply(this, parameters);
  });
  const client = new Client({ connectionString: location });
  await client.connect();
  const plan = async (one: RecordedStatement) => {
    await prepare(client, one.statement);
    const steps = await explain(client, one, one.statement.planOnce ? "force_generic_plan" : "force_custom_plan");
    await client.query("deallocate all");
    return steps.filter(({ table }) => table !== undefined);
  };
  return {
    adapter,
    watch: async (ask) => {
      recorded.length = 0;
      await ask();
      const steps = [];
      for (const one of [...recorded]) steps.push(...(await plan(one)));
      return {
        statements: recorded.length,
        scans: steps.filter(({ type, rowsRead }) => type === "Seq Scan" && rowsRead > 0).map(({ table }) => `${table}`),
        rows: steps.reduce((sum, { rowsRead }) => sum + rowsRead, 0),
        megabytes: steps.reduce((sum, { pagesRead }) => sum + pagesRead * PAGE_MEGABYTES, 0),
      };
    },
    close: async () => {
      spy.mockRestore();
      await client.end();
    },
  };
}

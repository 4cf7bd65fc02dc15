import { DatabaseSync } from "node:sqlite";
import { InvalidInputError, StoreError } from "../../errors.ts";
import { type AdapterOptions, parseAdapterOptions } from "../adapter-options.ts";
import { withCodec } from "../codec/codec-engine.ts";
import { createAdapter, type DatabaseAdapter, Store } from "../store.ts";
import { createTransactionContext } from "../transaction-context.ts";
import { driverOf, type SqliteDriver, type SqliteHandle } from "./drivers/driver.ts";
import { SqliteEngine } from "./engine.ts";
import { isBusy, toStoreError } from "./errors.ts";
import { MIGRATIONS_TABLE, schemaMigrations } from "./schema.ts";
import { FileWakeups, noWakeups } from "./wakeups.ts";

export type { SqliteHandle } from "./drivers/driver.ts";

export type SqliteOptions = AdapterOptions;

const OPEN_PATIENCE_MS = 10_000;
const OPEN_PAUSE_MS = 10;

/**
 * A SQLite database: a path, `:memory:`, or an open database of `node:sqlite` or `better-sqlite3`. Several processes may use
 * one file.
 *
 * @example
 * const database = sqlite("app.db");
 */
export function sqlite(database: string | SqliteHandle, options: SqliteOptions = {}): DatabaseAdapter {
  const { clock, randomness, logger, codec, stackTraces } = parseAdapterOptions(options);
  const path = typeof database === "string" ? checkPath(database) : pathOf(checkHandle(database));
  const driver = typeof database === "string" ? openFile(database) : driverOf(database, { owned: false });
  const wakeups = path !== "" && path !== ":memory:" ? new FileWakeups(path, () => dataVersion(driver)) : noWakeups;
  const transactionContext = createTransactionContext();
  const context = transactionContext === null ? {} : { transactionContext };
  const engine = new SqliteEngine({ driver, clock, randomness, wakeups, ...context });
  return createAdapter(new Store({ engine: withCodec(engine, codec, logger), randomness, logger, stackTraces }));
}

/** The SQL that `migrate` would run on an empty database, for operators who run it themselves. */
export function sqliteMigrations(): string {
  const migrations = schemaMigrations.map(
    ({ owner, number, name, breaking, sql }) =>
      `-- ${owner} ${number}: ${name}\n${sql}insert into perdure_migration (owner, number, name, breaking, applied_at)
values ('${owner}', ${number}, '${name}', ${breaking ? 1 : 0}, unixepoch() * 1000);\n`,
  );
  return [MIGRATIONS_TABLE, ...migrations].join("\n");
}

function openFile(path: string): SqliteDriver {
  const handle = openHandle(path);
  try {
    useWriteAheadLog(handle);
    handle.exec("pragma synchronous = full; pragma busy_timeout = 0;");
  } catch (error) {
    handle.close();
    throw cannotOpen(path, error);
  }
  return driverOf(handle, { owned: true });
}

function openHandle(path: string): DatabaseSync {
  try {
    return new DatabaseSync(path);
  } catch (error) {
    throw cannotOpen(path, error);
  }
}

/** Names the file and the likely mistake, because SQLite names neither. A path that may be a mistyped URL is never shown. */
function cannotOpen(path: string, error: unknown): StoreError {
  const { code } = toStoreError(error);
  const { message } = error as Error;
  const shown = /^([a-z]:)?[^:@?]*$/i.test(path) ? ` ${JSON.stringify(path)}` : "";
  const problem = `The SQLite database${shown} can't be opened: ${message}`;
  const advice =
    code === "store.rejected" ? " Its folder must exist, and the file must be a writable SQLite database." : "";
  return new StoreError(code, `${problem}.${advice}`, { cause: error, transient: code === "store.unavailable" });
}

/**
 * Processes that start together all switch a new file to its write-ahead log, and can deadlock over it. SQLite's busy timeout
 * doesn't cover that, so the switch is retried. This can only happen when a file is new.
 */
function useWriteAheadLog(handle: DatabaseSync): void {
  const giveUpAt = performance.now() + OPEN_PATIENCE_MS;
  for (;;) {
    try {
      handle.exec("pragma journal_mode = wal;");
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > giveUpAt) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1 + Math.random() * OPEN_PAUSE_MS);
    }
  }
}

/** Changes whenever another connection has written. */
function dataVersion(driver: SqliteDriver): number {
  return Number(driver.all("pragma data_version", [])[0]?.data_version);
}

/** Empty for a database in memory. */
function pathOf(handle: SqliteHandle): string {
  const [main] = handle.prepare("select file from pragma_database_list where name = 'main'").all() as {
    file: string;
  }[];
  return main?.file ?? "";
}

function checkPath(path: string): string {
  if (path !== "" && !path.includes("\0")) return path;
  throw new InvalidInputError("sqlite.path_invalid", "The path of a SQLite database must not be empty.");
}

function checkHandle(handle: SqliteHandle): SqliteHandle {
  const { exec, prepare, close } = (handle ?? {}) as unknown as Record<string, unknown>;
  if ([exec, prepare, close].every((method) => typeof method === "function")) return handle;
  throw new InvalidInputError(
    "sqlite.database_invalid",
    "Expected a path, or an open database of node:sqlite or better-sqlite3.",
  );
}

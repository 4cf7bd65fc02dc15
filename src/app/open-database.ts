import { InvalidInputError } from "../errors.ts";
import { BorrowedLogger, type Logger } from "../logger.ts";
import { type Codec, checkCodec } from "../store/codec/codec.ts";
import { type DatabaseAdapter, Store } from "../store/store.ts";

/** Options for opening a path or a URL. */
export interface OpenOptions {
  readonly logger: Logger;
  readonly codec?: Codec;
  readonly stackTraces?: boolean;
}

/** Checks the `database` option before anything is opened. */
export function checkDatabase(database: unknown, { codec, stackTraces }: Omit<OpenOptions, "logger"> = {}): void {
  checkCodec(codec);
  if (stackTraces !== undefined && typeof stackTraces !== "boolean") {
    throw new InvalidInputError("options.invalid", "stackTraces must be true or false.");
  }
  if (typeof database === "string") {
    if (database.trim() === "") {
      throw new InvalidInputError("sqlite.path_invalid", "The path of a SQLite database must not be empty.");
    }
    if (/^[a-z][a-z0-9+.-]+:\/\//i.test(database) && !isPostgres(database)) throw invalidDatabase();
    return;
  }
  if (!((database as DatabaseAdapter | null | undefined)?.store instanceof Store)) throw invalidDatabase();
  if (codec === undefined && stackTraces === undefined) return;
  throw new InvalidInputError(
    "options.invalid",
    `${codec === undefined ? "stackTraces" : "codec"} goes to sqlite(...) or postgres(...), where the database is opened by one.`,
  );
}

/** Opens a path or a URL. Loads only the engine that is used. */
export async function openDatabase(database: string, options: OpenOptions): Promise<DatabaseAdapter> {
  if (isPostgres(database)) {
    const { postgres } = await import("../store/postgres/index.ts");
    return postgres(database, options);
  }
  const { sqlite } = await import("../store/sqlite/index.ts");
  return sqlite(database, options);
}

/** A database that was opened without a logger writes to that of the application which began last. */
export function lendLogger({ store }: DatabaseAdapter, logger: Logger): void {
  if (store.logger instanceof BorrowedLogger) store.logger.borrow(logger);
}

function isPostgres(database: string): boolean {
  return /^postgres(ql)?:\/\//.test(database);
}

function invalidDatabase(): InvalidInputError {
  return new InvalidInputError(
    "options.invalid",
    "database must be a path, a postgres:// URL, or made by sqlite(...) or postgres(...).",
  );
}

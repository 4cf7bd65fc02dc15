import { InvalidInputError } from "../errors.ts";
import type { Logger } from "../logger.ts";
import { type DatabaseAdapter, Store } from "../store/store.ts";

/** Checks what a user gave as a database, before anything is opened. */
export function checkDatabase(database: unknown): void {
  if (typeof database === "string") {
    if (/^[a-z][a-z0-9+.-]+:\/\//i.test(database) && !isPostgres(database)) throw invalidDatabase();
    return;
  }
  if (!((database as DatabaseAdapter | null | undefined)?.store instanceof Store)) throw invalidDatabase();
}

/** Opens a path or a URL. An engine is loaded only where it is used. */
export async function openDatabase(database: string, logger: Logger): Promise<DatabaseAdapter> {
  if (isPostgres(database)) {
    const { postgres } = await import("../store/postgres/index.ts");
    return postgres(database, { logger });
  }
  const { sqlite } = await import("../store/sqlite/index.ts");
  return sqlite(database, { logger });
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

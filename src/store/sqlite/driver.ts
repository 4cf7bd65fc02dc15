/** What the engine needs of a SQLite library. Everything is synchronous: a Durable Object's storage is no other. */
export interface SqliteDriver {
  /** Runs statements that take no parameters and give no rows. */
  execute(text: string): void;
  all(text: string, parameters: readonly SqliteValue[]): Record<string, unknown>[];
  /** Runs a statement for its effect and gives the number of rows that it changed. */
  run(text: string, parameters: readonly SqliteValue[]): number;
  /** Opens a transaction for writing. Throws at once while another process writes: waiting for it would block the event loop. */
  begin(): void;
  /** Whether a transaction is open on this connection. */
  inTransaction(): boolean;
  /** Where transactions aren't begun and ended by statements, as in a Durable Object: then this is used instead. */
  readonly ownTransactions?: SqliteTransactions;
  close(): void;
}

/** Both commit what the body has written when it is over, or nothing of it if it throws. */
export interface SqliteTransactions {
  sync<Result>(body: () => Result): Result;
  async<Result>(body: () => Promise<Result>): Promise<Result>;
}

export type SqliteValue = string | number | bigint | null | Uint8Array;

/** A database handle of `node:sqlite` or `better-sqlite3`, taken structurally. */
export interface SqliteHandle {
  exec(text: string): unknown;
  prepare(text: string): SqliteHandleStatement;
  close(): unknown;
  /** Of node:sqlite. */
  readonly isTransaction?: boolean;
  /** Of node:sqlite: the path of the file. */
  location?(): string | null;
  /** Of better-sqlite3. */
  readonly inTransaction?: boolean;
  /** Of better-sqlite3: the path of the file. */
  readonly name?: string;
}

interface SqliteHandleStatement {
  all(...parameters: never[]): unknown[];
  run(...parameters: never[]): { changes: number | bigint };
  /** Of better-sqlite3: whether the statement gives rows. */
  readonly reader?: boolean;
}

const MOST_CACHED_STATEMENTS = 200;
const NUMBERED_PLACEHOLDER = /\?[1-9]/;

export function driverOf(handle: SqliteHandle, options: { owned: boolean }): SqliteDriver {
  const statements = new Map<string, SqliteHandleStatement>();
  const prepare = (text: string): SqliteHandleStatement => {
    let statement = statements.get(text);
    if (statement === undefined) {
      if (statements.size >= MOST_CACHED_STATEMENTS) statements.clear();
      statement = handle.prepare(text);
      statements.set(text, statement);
    }
    return statement;
  };
  return {
    execute: (text) => {
      handle.exec(text);
    },
    all: (text, parameters) => {
      const statement = prepare(text);
      if (statement.reader === false) {
        statement.run(...bindings(statement, text, parameters));
        return [];
      }
      return statement.all(...bindings(statement, text, parameters)) as Record<string, unknown>[];
    },
    run: (text, parameters) => {
      const statement = prepare(text);
      return Number(statement.run(...bindings(statement, text, parameters)).changes);
    },
    begin: () => (options.owned ? handle.exec("begin immediate") : beginWithoutWaiting(handle)),
    inTransaction: () => handle.isTransaction ?? handle.inTransaction ?? false,
    close: () => {
      statements.clear();
      if (options.owned) handle.close();
    },
  };
}

/** An application's handle may be set to wait, as better-sqlite3's are; it is left as it was. */
function beginWithoutWaiting(handle: SqliteHandle): void {
  const [row] = handle.prepare("pragma busy_timeout").all() as { timeout: number }[];
  handle.exec("pragma busy_timeout = 0");
  try {
    handle.exec("begin immediate");
  } finally {
    handle.exec(`pragma busy_timeout = ${row?.timeout ?? 0}`);
  }
}

/** better-sqlite3 takes `?1`, `?2` for names, and wants an object for those. */
function bindings(statement: SqliteHandleStatement, text: string, parameters: readonly SqliteValue[]): never[] {
  if (statement.reader === undefined || !NUMBERED_PLACEHOLDER.test(text)) return parameters as never[];
  return [Object.fromEntries(parameters.map((value, index) => [index + 1, value]))] as never[];
}

import type { Clock } from "../../../clock.ts";
import { type Placeholders, withoutNumbers } from "./placeholders.ts";

/** The part of a SQLite library that the engine uses. Everything is synchronous, as in a Durable Object's storage. */
export interface SqliteDriver {
  /** The library's own handle. */
  readonly handle: object;
  /** Runs statements that take no parameters and give no rows. */
  execute(text: string): void;
  all(text: string, parameters: readonly SqliteValue[]): Record<string, unknown>[];
  /** Runs a statement for its effect and gives the number of rows that it changed. */
  run(text: string, parameters: readonly SqliteValue[]): number;
  /**
   * Opens a transaction for writing. Throws at once while another process writes: waiting for it would block the event loop.
   */
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
  /** Calls back after everything that is already under way, also while such a transaction is open. */
  readonly defer: Clock["defer"];
}

export type SqliteValue = string | number | bigint | null | Uint8Array;

/** A database handle of `node:sqlite` or `better-sqlite3`, taken structurally. */
export interface SqliteHandle {
  exec(text: string): unknown;
  prepare(text: string): SqliteHandleStatement;
  close(): unknown;
  /** Of node:sqlite, from Node 22.16 on. */
  readonly isTransaction?: boolean;
  /** Of better-sqlite3. */
  readonly inTransaction?: boolean;
}

interface SqliteHandleStatement {
  all(...parameters: never[]): unknown[];
  run(...parameters: never[]): { changes: number | bigint };
  /** Of better-sqlite3: whether the statement gives rows. */
  readonly reader?: boolean;
}

interface PreparedStatement {
  readonly statement: SqliteHandleStatement;
  readonly bind: Placeholders["bind"];
}

const MOST_CACHED_STATEMENTS = 200;

export function driverOf(handle: SqliteHandle, options: { owned: boolean }): SqliteDriver {
  const statements = new Map<string, PreparedStatement>();
  const prepare = (text: string): PreparedStatement => {
    let prepared = statements.get(text);
    if (prepared === undefined) {
      if (statements.size >= MOST_CACHED_STATEMENTS) statements.clear();
      const placeholders = withoutNumbers(text);
      prepared = { statement: handle.prepare(placeholders.text), bind: placeholders.bind };
      statements.set(text, prepared);
    }
    return prepared;
  };
  const run = (text: string, parameters: readonly SqliteValue[]) => {
    const { statement, bind } = prepare(text);
    return Number(statement.run(...(bind(parameters) as never[])).changes);
  };
  return {
    handle,
    execute: (text) => {
      handle.exec(text);
    },
    all: (text, parameters) => {
      const { statement, bind } = prepare(text);
      if (statement.reader !== false)
        return statement.all(...(bind(parameters) as never[])) as Record<string, unknown>[];
      run(text, parameters);
      return [];
    },
    run,
    begin: () => (options.owned ? handle.exec("begin immediate") : beginWithoutWaiting(handle)),
    inTransaction: () => handle.isTransaction ?? handle.inTransaction ?? refusesTransaction(handle),
    close: () => {
      statements.clear();
      if (options.owned) handle.close();
    },
  };
}

/**
 * node:sqlite doesn't tell whether a transaction is open before Node 22.16, but it refuses another one. An empty one costs
 * nothing.
 */
function refusesTransaction(handle: SqliteHandle): boolean {
  try {
    handle.exec("begin");
  } catch (error) {
    return error instanceof Error && error.message.includes("within a transaction");
  }
  handle.exec("rollback");
  return false;
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

/** How statements reach the one connection, on which one thing happens at a time. */
export interface SqliteAccess {
  readonly driver: SqliteDriver;
  readonly now: () => number;
  /** Runs synchronous reads between other callers' transactions. */
  readonly read: <Result>(body: () => Result) => Promise<Result>;
  /** The same, in one snapshot: no write of another process shows between the first read and the last. */
  readonly readSnapshot: <Result>(body: () => Result) => Promise<Result>;
  /** Runs synchronous work in a transaction of its own. */
  readonly write: <Result>(body: () => Result) => Promise<Result>;
}

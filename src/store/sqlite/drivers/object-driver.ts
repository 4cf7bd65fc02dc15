import { InvalidInputError } from "../../../errors.ts";
import type { SqliteDriver, SqliteValue } from "./driver.ts";

/** The part of a Durable Object's state that is used, typed structurally, so that no package with its types is needed. */
export interface ObjectState {
  readonly storage: ObjectStorage;
  blockConcurrencyWhile<Result>(body: () => Promise<Result>): Promise<Result>;
}

/** The storage of an object that has SQLite. */
export interface ObjectStorage {
  readonly sql: ObjectSql;
  transactionSync<Result>(body: () => Result): Result;
  /** Keeps all other events of the object waiting. */
  transaction<Result>(body: () => Promise<Result>): Promise<Result>;
  getAlarm(): Promise<number | null>;
  setAlarm(time: number | Date): Promise<void>;
  deleteAlarm(): Promise<void>;
}

interface ObjectSql {
  exec(text: string, ...parameters: ObjectSqlValue[]): { toArray(): Record<string, ObjectSqlValue>[] };
}

type ObjectSqlValue = string | number | null | ArrayBuffer;

type ObjectParameter = string | number | null | ArrayBuffer;

/**
 * The SQLite of a Durable Object. Everything is synchronous and no other process has it, so it is never busy. `onWrite` is
 * called in the same turn as every write, so that what it writes itself is committed together with it.
 */
export function objectDriver(storage: ObjectStorage, onWrite: () => void): SqliteDriver {
  const { sql } = storage;
  const all = (text: string, parameters: readonly SqliteValue[]) => {
    const rows = sql.exec(text, ...parameters.map(toParameter)).toArray() as Record<string, unknown>[];
    for (const row of rows) restoreBytes(row);
    return rows;
  };
  return {
    handle: storage,
    execute: (text) => {
      sql.exec(text).toArray();
    },
    all,
    run: (text, parameters) => {
      sql.exec(text, ...parameters.map(toParameter)).toArray();
      return Number(sql.exec("select changes() as changes").toArray()[0]?.changes);
    },
    begin: () => {},
    inTransaction: () => false,
    ownTransactions: {
      sync: (body) => {
        const result = storage.transactionSync(body);
        onWrite();
        return result;
      },
      async: (body) =>
        storage.transaction(async () => {
          const result = await body();
          onWrite();
          return result;
        }),
      defer: deferWithoutTimer,
    },
    close: () => {},
  };
}

/**
 * While a transaction is open, the runtime lets no event of the object in but those that the transaction has begun. A timer
 * that was set before it and is due waits, too, and all later timers wait for that one: if the transaction waited for a timer,
 * it could wait for ever. Reading a body is an event of another kind, and comes after the microtasks as a timer does.
 */
function deferWithoutTimer(callback: () => void): void {
  void new Response("-").text().then(callback);
}

/** It has no 64-bit integers, and would take a view of a buffer for the whole of it. */
function toParameter(value: SqliteValue): ObjectParameter {
  if (value instanceof Uint8Array) return value.slice().buffer;
  if (typeof value !== "bigint") return value;
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw new InvalidInputError(
    "sql.parameter_invalid",
    "The SQLite of a Durable Object takes no integers beyond 2^53: store larger ones as text.",
  );
}

/** Bytes come back as everywhere else. */
function restoreBytes(row: Record<string, unknown>): void {
  for (const name in row) {
    const value = row[name];
    if (value instanceof ArrayBuffer) row[name] = new Uint8Array(value);
  }
}

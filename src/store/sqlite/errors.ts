import { PerdureError, StoreError, ValueRefusedError } from "../../errors.ts";

const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_FULL = 13;
const SQLITE_IOERR = 10;
const SQLITE_TOOBIG = 18;
const TRANSIENT = new Set([SQLITE_BUSY, SQLITE_LOCKED, SQLITE_FULL, SQLITE_IOERR]);
const NAMES: Record<string, number> = {
  SQLITE_BUSY,
  SQLITE_LOCKED,
  SQLITE_FULL,
  SQLITE_IOERR,
  SQLITE_TOOBIG,
};

/** A Durable Object's storage says the code only here. */
const CODE_IN_MESSAGE = /: (SQLITE_[A-Z]+)( \(extended: \w+\))?$/;

/** The primary result code: node:sqlite gives a number, better-sqlite3 a name, both possibly extended. */
function resultCode(error: unknown): number | null {
  const {
    errcode,
    message,
    code = CODE_IN_MESSAGE.exec(String(message))?.[1],
  } = (error ?? {}) as Record<string, unknown>;
  if (typeof errcode === "number") return errcode & 0xff;
  if (typeof code !== "string") return null;
  const name = Object.keys(NAMES).find((known) => code === known || code.startsWith(`${known}_`));
  return name === undefined ? null : (NAMES[name] as number);
}

export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === SQLITE_BUSY || code === SQLITE_LOCKED;
}

/** A file or a handle that can only be read. */
export function isReadOnly(error: unknown): boolean {
  const { message } = (error ?? {}) as { readonly message?: unknown };
  return typeof message === "string" && message.includes("attempt to write a readonly database");
}

export function toStoreError(error: unknown): PerdureError {
  if (error instanceof PerdureError) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (TRANSIENT.has(resultCode(error) ?? -1)) {
    return new StoreError("store.unavailable", `SQLite could not write now: ${message}`, {
      cause: error,
      transient: true,
    });
  }
  if (resultCode(error) === SQLITE_TOOBIG) {
    return new ValueRefusedError(`SQLite refused a value: ${message}`, { cause: error });
  }
  if (/no such (table|column)/.test(message)) {
    return new StoreError(
      "store.not_migrated",
      `Perdure's tables are missing or incomplete (${message}). Call migrate() first.`,
      { cause: error, transient: false },
    );
  }
  return new StoreError("store.rejected", `SQLite refused a statement: ${message}`, { cause: error, transient: false });
}

import { PerdureError, StoreError, ValueRefusedError } from "../../errors.ts";

interface DriverError {
  readonly code?: unknown;
  readonly message?: unknown;
}

/**
 * SQLSTATE classes and codes after which the same statement may succeed: connection exceptions, transaction rollback (deadlock,
 * serialization), insufficient resources, operator intervention (shutdown, cancelled), locks not available, system errors.
 */
const TRANSIENT_SQLSTATE = /^(08|40|53|57|58|55P03|25006)/;
/** How often a statement or transaction is sent again after a deadlock. Locks are taken in one order, so deadlocks are rare. */
export const MOST_DEADLOCKS = 10;
/** The error of `pg`'s pool when no connection became free in time. */
const POOL_TIMEOUT = "timeout exceeded when trying to connect";
/** How `pg` says that a connection was closed or cut. */
const LOST_CONNECTION = /^(Connection (terminated|ended)|Client (was closed|has encountered a connection error))/;

/** Data exceptions and exceeded limits: a character that the database's encoding lacks, a value that is too large. */
const REFUSED_VALUE = /^(22|54)/;
/** PostgreSQL takes no more statements of a transaction after one has failed. */
const ABORTED = "25P02";
const SQLSTATE = /^[0-9A-Z]{5}$/;

/** Turns a driver's error into Perdure's. Without an SQLSTATE the connection failed, and another try may succeed. */
export function toStoreError(error: unknown): PerdureError {
  if (error instanceof PerdureError) return error;
  const { code, message } = error as DriverError;
  if (message === POOL_TIMEOUT) {
    return new StoreError(
      "store.unavailable",
      "No connection to PostgreSQL became available in time: all connections of the pool were in use, or the server couldn't be reached. " +
        "Give the pool more connections, or release them sooner.",
      { cause: error, transient: true },
    );
  }
  const state = typeof code === "string" && SQLSTATE.test(code) && !code.startsWith("E") ? code : null;
  const text = typeof message === "string" && message !== "" ? message : String(code ?? error);
  if (state === null || TRANSIENT_SQLSTATE.test(state)) {
    return new StoreError("store.unavailable", `PostgreSQL couldn't be reached, or cancelled the statement: ${text}`, {
      cause: error,
      transient: true,
    });
  }
  if (state === "42P01" || state === "3F000" || state === "42703") {
    return new StoreError(
      "store.not_migrated",
      `Perdure's tables are missing or incomplete (${text}). Call migrate() first.`,
      { cause: error, transient: false },
    );
  }
  if (state === ABORTED) return rolledBack(error);
  if (REFUSED_VALUE.test(state)) {
    return new ValueRefusedError(`PostgreSQL refused a value: ${text}`, { cause: error });
  }
  return new StoreError("store.rejected", `PostgreSQL refused a statement: ${text}`, {
    cause: error,
    transient: false,
  });
}

/** One of the transaction's statements has failed, and user code caught the error. */
export function rolledBack(cause?: unknown): StoreError {
  return new StoreError(
    "transaction.rolled_back",
    "PostgreSQL rolled the transaction back, because one of its statements had failed and the error was caught. " +
      "Let the error end the transaction, or use a savepoint around a statement that may fail.",
    { cause, transient: false },
  );
}

export function isUniqueViolation(error: unknown): boolean {
  return stateOf(error) === "23505";
}

/**
 * PostgreSQL has ended a deadlock by undoing this transaction, or its statements back to a savepoint. None of it was written,
 * so it can be sent again.
 */
export function isDeadlock(error: unknown): boolean {
  return stateOf(error) === "40P01";
}

/** PostgreSQL could not serialize this transaction with another, and has undone it. */
function isSerializationFailure(error: unknown): boolean {
  return stateOf(error) === "40001" || isDeadlock(error);
}

/**
 * Whether a statement of user code failed because of another transaction, or because its connection was lost. The limits that
 * the code itself can meet again, such as a time limit, a lock that it doesn't wait for or a full disk, are failures of an
 * attempt: its retries are limited.
 */
export function isInterruption(error: unknown): boolean {
  return isSerializationFailure(error) || isLostConnection(error);
}

/** An error without an SQLSTATE may also be one of a parameter that the driver can't encode, or of a time limit of the client. */
function isLostConnection(error: unknown): boolean {
  const { code, message } = causeOf(error);
  if (typeof code === "string") return /^(08...|57P..|E[A-Z]+)$/.test(code);
  return LOST_CONNECTION.test(String(message));
}

/** PostgreSQL refuses every statement of a transaction after one that has failed. */
export function isRefusedAfterFailure(error: unknown): boolean {
  return stateOf(error) === "25P02";
}

function stateOf(error: unknown): unknown {
  return causeOf(error).code;
}

function causeOf(error: unknown): DriverError {
  return ((error instanceof StoreError ? error.cause : error) ?? {}) as DriverError;
}

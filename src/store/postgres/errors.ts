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
/** How often the same is sent again because of one. Locks are taken in one order, so that even the first is rare. */
export const MOST_DEADLOCKS = 10;
/** What the pool of `pg` says when nobody gave back a connection in time. */
const POOL_TIMEOUT = "timeout exceeded when trying to connect";

/** Data exceptions and exceeded limits: a character that the database's encoding hasn't got, a value that is too large. */
const REFUSED_VALUE = /^(22|54)/;
const SQLSTATE = /^[0-9A-Z]{5}$/;

/** What a driver threw, as ours. An error without an SQLSTATE never reached the server, or lost it: trying again may help. */
export function toStoreError(error: unknown): PerdureError {
  if (error instanceof PerdureError) return error;
  const { code, message } = error as DriverError;
  if (message === POOL_TIMEOUT) {
    return new StoreError(
      "store.unavailable",
      "No connection to PostgreSQL could be had in time: all connections of the pool were in use, or the server couldn't be reached. " +
        "Give the pool more connections, or keep them for shorter.",
      { cause: error, transient: true },
    );
  }
  const state = typeof code === "string" && SQLSTATE.test(code) && !code.startsWith("E") ? code : null;
  const text = typeof message === "string" && message !== "" ? message : String(code ?? error);
  if (state === null || TRANSIENT_SQLSTATE.test(state)) {
    return new StoreError("store.unavailable", `PostgreSQL could not be reached or gave up: ${text}`, {
      cause: error,
      transient: true,
    });
  }
  if (state === "42P01" || state === "3F000" || state === "42703") {
    return new StoreError(
      "store.not_migrated",
      `Perdure's tables aren't there or aren't complete (${text}). Call migrate() first.`,
      { cause: error, transient: false },
    );
  }
  if (REFUSED_VALUE.test(state)) {
    return new ValueRefusedError(`PostgreSQL refused a value: ${text}`, { cause: error });
  }
  return new StoreError("store.rejected", `PostgreSQL refused a statement: ${text}`, {
    cause: error,
    transient: false,
  });
}

export function isUniqueViolation(error: unknown): boolean {
  return stateOf(error) === "23505";
}

/**
 * PostgreSQL has ended a circle of transactions that waited for each other, by undoing this one (or its last statements, back to a
 * savepoint). Nothing of it was written, so it may be sent again, whatever it is.
 */
export function isDeadlock(error: unknown): boolean {
  return stateOf(error) === "40P01";
}

function stateOf(error: unknown): unknown {
  const cause = error instanceof StoreError ? error.cause : error;
  return (cause as DriverError | undefined)?.code;
}

import { CommitOutcomeUnknownError, StoreError } from "../../../errors.ts";
import type { Isolation } from "../../engine.ts";
import { isDeadlock, isUniqueViolation, MOST_DEADLOCKS, rolledBack, toStoreError } from "../errors.ts";
import type { PostgresClient, PostgresQueryable, PostgresResult } from "./driver.ts";
import { ANSWER_TIMEOUT_MS, type Limits, setLimits } from "./limits.ts";

/** A commit may have to wait for replicas. A client that gives up can't know whether it succeeded. */
const COMMIT_TIMEOUT_MS = 60_000;
const IDLE_TOO_LONG = "25P03";

/** The part of a `Connection` that opens transactions. */
interface Transactions {
  transaction<Result>(body: (client: PostgresClient) => Promise<Result>): Promise<Result>;
}

/** A transaction on a client of its own. After a deadlock, which undoes everything, `body` runs again. */
export async function inTransactionOf<Result>(
  connection: Transactions,
  body: (client: PostgresClient) => Promise<Result>,
): Promise<Result> {
  for (let deadlocks = 0; ; deadlocks++) {
    try {
      return await connection.transaction(body);
    } catch (error) {
      if (!isDeadlock(error) || deadlocks === MOST_DEADLOCKS) throw error;
    }
  }
}

/** Runs statements of a transaction, and runs them again after a deadlock or a conflict with another transaction. */
export async function withinSavepoint<Result>(
  transaction: PostgresQueryable,
  body: () => Promise<Result>,
): Promise<Result> {
  const send = (text: string) => transaction.query({ text, query_timeout: ANSWER_TIMEOUT_MS });
  await send("savepoint perdure").catch((error: unknown) => {
    throw toStoreError(error);
  });
  for (let conflicts = 0; ; conflicts++) {
    try {
      return await body();
    } catch (error) {
      const conflict = isDeadlock(error) || isUniqueViolation(error);
      if (!conflict || conflicts === MOST_DEADLOCKS) throw error;
      await send("rollback to savepoint perdure");
    }
  }
}

interface TransactionParts {
  readonly isolation: Isolation | undefined;
  /** Gives statements that are sent in one message with the commit, each with a semicolon. */
  readonly beforeCommit: () => string;
}

/** Commits or rolls back the work of `body` on this client, then releases the client, or destroys it if it is broken. */
export async function inTransaction<Result>(
  client: PostgresClient,
  limits: Limits,
  body: () => Promise<Result>,
  { isolation, beforeCommit }: TransactionParts,
): Promise<Result> {
  let broken: Error | undefined;
  const onError = (error: Error) => {
    broken = error;
  };
  client.on("error", onError);
  try {
    const level = isolation === undefined ? "" : ` isolation level ${isolation}`;
    const begin = `begin${level}; ${setLimits(limits)}`;
    await client.query({ text: begin, query_timeout: ANSWER_TIMEOUT_MS }).catch((error: unknown) => {
      throw toStoreError(error);
    });
    const result = await body();
    await commit(client, beforeCommit());
    return result;
  } catch (caught) {
    const error = broken === undefined ? caught : (toIdleError(broken, limits) ?? caught);
    if (!(error instanceof CommitOutcomeUnknownError)) {
      await client.query({ text: "rollback", query_timeout: ANSWER_TIMEOUT_MS }).catch((failure: Error) => {
        broken = failure;
      });
    } else {
      broken = error;
    }
    throw error;
  } finally {
    client.removeListener("error", onError);
    client.release(broken);
  }
}

async function commit(client: PostgresClient, before: string): Promise<void> {
  const answer = await client
    .query({ text: `${before}commit`, query_timeout: COMMIT_TIMEOUT_MS })
    .catch((error: unknown) => {
      const failure = toStoreError(error);
      const sent = failure instanceof StoreError && failure.transient && !isServerError(error);
      throw sent ? new CommitOutcomeUnknownError({ cause: error }) : failure;
    });
  if (lastOf(answer).command === "ROLLBACK") throw rolledBack();
}

/** The driver answers several statements in one message with several results. */
export function lastOf(answer: PostgresResult): PostgresResult {
  return Array.isArray(answer) ? (answer.at(-1) as PostgresResult) : answer;
}

/** Later statements fail because the connection is gone. This error says why. */
function toIdleError(broken: Error, { idle }: Limits): StoreError | undefined {
  if ((broken as { code?: unknown }).code !== IDLE_TOO_LONG) return undefined;
  return new StoreError(
    "transaction.idle_too_long",
    `PostgreSQL ended the transaction, because it was idle for ${idle / 1000} seconds, or for as long as the server's ` +
      "idle_in_transaction_session_timeout allows. Nothing was written. Do slow work before or after the transaction.",
    { cause: broken, transient: false },
  );
}

/** Whether the server reported that the commit failed. After any other error the outcome is unknown. */
function isServerError(error: unknown): boolean {
  return (
    typeof (error as { severity?: unknown }).severity === "string" &&
    !/^57P/.test(String((error as { code?: unknown }).code))
  );
}

import { CommitOutcomeUnknownError, StoreError } from "../../errors.ts";
import type { PostgresClient, PostgresQueryable } from "./driver.ts";
import { isDeadlock, isUniqueViolation, MOST_DEADLOCKS, toStoreError } from "./errors.ts";
import { ANSWER_TIMEOUT_MS, type Limits, setLimits } from "./limits.ts";

/** A commit may have to wait for other servers. Who gives up can't know what became of it. */
const COMMIT_TIMEOUT_MS = 60_000;
const IDLE_TOO_LONG = "25P03";

/** Where transactions are had: a `Connection`. */
interface Transactions {
  transaction<Result>(body: (client: PostgresClient) => Promise<Result>): Promise<Result>;
}

/** A transaction on a client of its own. `body` may be run again: nothing of it outlives a deadlock. */
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

/** Runs statements of a transaction that may meet those of others, again if they did. */
export async function withinSavepoint<Result>(
  transaction: PostgresQueryable,
  body: () => Promise<Result>,
): Promise<Result> {
  const send = (text: string) => transaction.query({ text, query_timeout: ANSWER_TIMEOUT_MS });
  await send("savepoint perdure").catch((error: unknown) => {
    throw toStoreError(error);
  });
  for (let meetings = 0; ; meetings++) {
    try {
      return await body();
    } catch (error) {
      const met = isDeadlock(error) || isUniqueViolation(error);
      if (!met || meetings === MOST_DEADLOCKS) throw error;
      await send("rollback to savepoint perdure");
    }
  }
}

/** Commits what `body` did on this client, or rolls it back, and gives the client back; broken ones are thrown away. */
export async function inTransaction<Result>(
  client: PostgresClient,
  limits: Limits,
  body: () => Promise<Result>,
): Promise<Result> {
  let broken: Error | undefined;
  const onError = (error: Error) => {
    broken = error;
  };
  client.on("error", onError);
  try {
    const begin = `begin; ${setLimits(limits)}`;
    await client.query({ text: begin, query_timeout: ANSWER_TIMEOUT_MS }).catch((error: unknown) => {
      throw toStoreError(error);
    });
    const result = await body();
    await commit(client);
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

async function commit(client: PostgresClient): Promise<void> {
  const { command } = await client
    .query({ text: "commit", query_timeout: COMMIT_TIMEOUT_MS })
    .catch((error: unknown) => {
      const failure = toStoreError(error);
      const sent = failure instanceof StoreError && failure.transient && !isServerError(error);
      throw sent ? new CommitOutcomeUnknownError({ cause: error }) : failure;
    });
  if (command !== "ROLLBACK") return;
  throw new StoreError(
    "transaction.rolled_back",
    "PostgreSQL rolled the transaction back, because one of its statements had failed and the error was caught. " +
      "Let the error end the transaction, or use a savepoint around a statement that may fail.",
    { transient: false },
  );
}

/** What follows on the connection fails because it is gone. This says why. */
function toIdleError(broken: Error, { idle }: Limits): StoreError | undefined {
  if ((broken as { code?: unknown }).code !== IDLE_TOO_LONG) return undefined;
  return new StoreError(
    "transaction.idle_too_long",
    `PostgreSQL ended the transaction, because nothing was asked of it for ${idle / 1000} seconds or for as long as its own ` +
      "idle_in_transaction_session_timeout allows. Nothing was written. Do what takes long before or after the transaction.",
    { cause: broken, transient: false },
  );
}

/** The server itself said that the commit failed; anything else leaves it open. */
function isServerError(error: unknown): boolean {
  return (
    typeof (error as { severity?: unknown }).severity === "string" &&
    !/^57P/.test(String((error as { code?: unknown }).code))
  );
}

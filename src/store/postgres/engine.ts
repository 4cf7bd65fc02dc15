import { type Clock, systemClock } from "../../clock.ts";
import { CommitOutcomeUnknownError, StoreError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import type { Randomness } from "../../randomness.ts";
import type { Dialect } from "../dialect.ts";
import type { Engine, EngineTransaction, Migrator } from "../engine.ts";
import type { ForeignInsert } from "../foreign-transaction.ts";
import type { HookInsert } from "../hook-records.ts";
import type { AppliedMigration } from "../migration.ts";
import { toRelay } from "../relay.ts";
import { ANSWER_TIMEOUT_MS, Connection } from "./connection.ts";
import type { PostgresClient, PostgresPool } from "./driver.ts";
import { toStoreError } from "./errors.ts";
import { PostgresHookStatements } from "./hook-statements.ts";
import { migratePostgres, readAppliedMigrations } from "./migrate.ts";
import { schemaMigrations } from "./schema.ts";
import { foreignInsertHook } from "./sql/foreign-insert-hook.ts";
import { PostgresWakeups } from "./wakeups.ts";

/** A commit may have to wait for other servers. Who gives up can't know what became of it. */
const COMMIT_TIMEOUT_MS = 60_000;

export interface PostgresEngineOptions {
  readonly pool: PostgresPool | { readonly url: string; readonly connections: number };
  readonly schema: string;
  readonly preparedStatements: boolean;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly logger: Logger;
}

export class PostgresEngine implements Engine {
  readonly dialect: Dialect = "postgres";
  readonly flushesInFlight = 2;
  readonly clock: Clock;
  readonly hooks: PostgresHookStatements;
  readonly wakeups: PostgresWakeups;
  readonly schemaMigrations: ReturnType<typeof schemaMigrations>;
  readonly #connection: Connection;
  readonly #schema: string;

  constructor(options: PostgresEngineOptions) {
    const { clock, schema } = options;
    const prefix = `"${schema}".`;
    this.clock = clock;
    this.#schema = schema;
    this.#connection = new Connection({
      pool: options.pool,
      preparedStatements: options.preparedStatements,
      statementPrefix: `${schema}_`,
      onPoolError: (error) => options.logger.warn("A PostgreSQL connection was lost.", { message: error.message }),
    });
    this.wakeups = new PostgresWakeups(
      this.#connection,
      systemClock,
      options.randomness,
      `perdure_${schema}`,
      (error) =>
        options.logger.warn("PostgreSQL can't tell us of other processes' work at present; we look for it instead.", {
          message: error.message,
        }),
    );
    this.hooks = new PostgresHookStatements(this.#connection, clock, prefix, this.wakeups);
    this.schemaMigrations = schemaMigrations(prefix);
  }

  /** Every transaction has a connection of its own. */
  refuseNesting(): void {}

  async transaction<Result>(body: (transaction: EngineTransaction) => Promise<Result>): Promise<Result> {
    const client = await this.#connection.checkOut();
    return inTransaction(client, async () => {
      return body({
        query: async (text, parameters) => (await client.query({ text, values: [...parameters] })).rows,
        insertHooks: (hooks) => this.hooks.insert(hooks, client),
        settleHooks: (settlements) => this.hooks.settle(settlements, {}, client),
      });
    });
  }

  foreignInsert(hook: HookInsert): ForeignInsert {
    const { namespace, id, name, payload, retries, trace, ownId, processAt } = hook.key === null ? hook : toRelay(hook);
    const now = this.clock.controlled ? this.clock.now() : null;
    const announcement = [this.wakeups.channel, JSON.stringify([namespace])];
    return {
      text: foreignInsertHook(`"${this.#schema}".`).text,
      parameters: [now, namespace, id, name, payload, retries, trace, ownId, processAt, ...announcement],
    };
  }

  async migrate(body: (migrator: Migrator) => Promise<void>): Promise<void> {
    await migratePostgres(this.#connection, this.#schema, (run) => this.#withClient(run), body);
  }

  appliedMigrations(): Promise<AppliedMigration[]> {
    return readAppliedMigrations(this.#connection, this.#schema);
  }

  async close(): Promise<void> {
    await this.wakeups.close();
    await this.#connection.close();
  }

  async #withClient<Result>(body: (client: PostgresClient) => Promise<Result>): Promise<Result> {
    const client = await this.#connection.checkOut();
    return inTransaction(client, () => body(client));
  }
}

/** Commits what `body` did on this client, or rolls it back, and gives the client back; broken ones are thrown away. */
async function inTransaction<Result>(client: PostgresClient, body: () => Promise<Result>): Promise<Result> {
  let broken: Error | undefined;
  const onError = (error: Error) => {
    broken = error;
  };
  client.on("error", onError);
  try {
    await client.query({ text: "begin", query_timeout: ANSWER_TIMEOUT_MS }).catch((error: unknown) => {
      throw toStoreError(error);
    });
    const result = await body();
    await commit(client);
    return result;
  } catch (error) {
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

/** The server itself said that the commit failed; anything else leaves it open. */
function isServerError(error: unknown): boolean {
  return (
    typeof (error as { severity?: unknown }).severity === "string" &&
    !/^57P/.test(String((error as { code?: unknown }).code))
  );
}

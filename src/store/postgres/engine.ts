import { type Clock, systemClock } from "../../clock.ts";
import { PerdureError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import type { Randomness } from "../../randomness.ts";
import type { Dialect } from "../dialect.ts";
import type { Engine, EngineTransaction, Isolation, Migrator, TransactionOptions } from "../engine.ts";
import type {
  AsyncTransaction,
  ForeignInstances,
  ForeignStatement,
  ForeignTransaction,
} from "../foreign-transaction.ts";
import type { HookInsert } from "../hooks/hook-records.ts";
import type { AppliedMigration } from "../migration.ts";
import { createTransactionContext, type TransactionContext } from "../transaction-context.ts";
import { PostgresBacklogStatements } from "./backlog-statements.ts";
import { CommitWatch } from "./connection/commit-watch.ts";
import { Connection } from "./connection/connection.ts";
import { DatabaseIdentity } from "./connection/database-identity.ts";
import type { PostgresClient, PostgresPool } from "./connection/driver.ts";
import { GuardedClient } from "./connection/guarded-client.ts";
import { type Limits, SLOW_ANSWER_TIMEOUT_MS } from "./connection/limits.ts";
import { TransactionSlots } from "./connection/transaction-slots.ts";
import { PostgresWakeups } from "./connection/wakeups.ts";
import { foreignSession } from "./foreign-session.ts";
import { PostgresHookStatements } from "./hook-statements.ts";
import { foreignTrigger, PostgresForeignInstances } from "./instances/foreign-instances.ts";
import { PostgresInstanceStatements } from "./instances/instance-statements.ts";
import { PostgresJobStatements } from "./job-statements.ts";
import { migratePostgres, readAppliedMigrations } from "./migrate.ts";
import { PostgresRequestStatements } from "./request-statements.ts";
import { PostgresScheduleStatements } from "./schedule-statements.ts";
import { schemaMigrations } from "./schema/schema.ts";
import { readIsolation } from "./sql/statement.ts";
import { PostgresStreamStatements } from "./stream-statements.ts";
import { PostgresSubjectStatements } from "./subject-statements.ts";
import { PostgresWorkerStatements } from "./worker-statements.ts";

/** Connections that units of work leave free: one listens, the others serve claims, commits, and calls in users' code. */
const KEPT_CONNECTIONS = 4;
/** Units of work run users' code and users' statements. */
const USERS_LIMITS: Limits = { lock: 60_000, statement: SLOW_ANSWER_TIMEOUT_MS - 1000, idle: 60_000 };

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
  readonly instances: PostgresInstanceStatements;
  readonly schedules: PostgresScheduleStatements;
  readonly subjects: PostgresSubjectStatements;
  readonly streams: PostgresStreamStatements;
  readonly requests: PostgresRequestStatements;
  readonly jobs: PostgresJobStatements;
  readonly workers: PostgresWorkerStatements;
  readonly backlog: PostgresBacklogStatements;
  readonly wakeups: PostgresWakeups;
  readonly schemaMigrations: ReturnType<typeof schemaMigrations>;
  readonly #connection: Connection;
  readonly #schema: string;
  readonly #prefix: string;
  readonly #identity: DatabaseIdentity;
  readonly #commits: CommitWatch;
  readonly #context: TransactionContext | null = createTransactionContext();
  readonly #slots: TransactionSlots;
  /** The database's own level, once it was asked for. */
  #isolation: Promise<string> | undefined;

  constructor(options: PostgresEngineOptions) {
    const { clock, schema } = options;
    const prefix = `"${schema}".`;
    this.clock = clock;
    this.#schema = schema;
    this.#prefix = prefix;
    const connections = "url" in options.pool ? options.pool.connections : (options.pool.options?.max ?? 10);
    this.#slots = new TransactionSlots(systemClock, Math.max(connections - KEPT_CONNECTIONS, 1));
    this.#connection = new Connection({
      pool: options.pool,
      preparedStatements: options.preparedStatements,
      statementPrefix: `${schema}_`,
      schema: prefix,
      clock,
      onPoolError: (error) => options.logger.warn("A PostgreSQL connection was lost.", { message: error.message }),
    });
    this.#identity = new DatabaseIdentity(this.#connection, prefix);
    this.#commits = new CommitWatch(this.#connection, systemClock);
    this.wakeups = new PostgresWakeups(
      this.#connection,
      systemClock,
      options.randomness,
      `perdure_${schema}`,
      (error) =>
        options.logger.warn(
          "Can't listen for PostgreSQL's notifications. Work of other processes is found by polling until it works again.",
          {
            message: error.message,
          },
        ),
    );
    this.hooks = new PostgresHookStatements(this.#connection, clock, prefix, this.wakeups);
    this.instances = new PostgresInstanceStatements(this.#connection, clock, prefix, this.wakeups);
    this.schedules = new PostgresScheduleStatements(this.#connection, clock, prefix);
    this.subjects = new PostgresSubjectStatements(this.#connection, clock, prefix, this.wakeups);
    this.streams = new PostgresStreamStatements(this.#connection, clock, prefix);
    this.requests = new PostgresRequestStatements(this.#connection, clock, prefix);
    this.jobs = new PostgresJobStatements(this.#connection, clock, prefix, this.hooks);
    this.workers = new PostgresWorkerStatements(this.#connection, clock, prefix);
    this.backlog = new PostgresBacklogStatements(this.#connection, clock, prefix);
    this.schemaMigrations = schemaMigrations(prefix);
  }

  /** A transaction has a connection of its own, so a call on another one would not be part of it. */
  refuseNesting(): void {
    if (!this.#context?.active()) return;
    throw new PerdureError(
      "transaction.nested",
      "This call was made inside a unit of work, but would not be part of it: it would stay when the unit of work is rolled back. " +
        "Use the unit of work's own methods (uow.triggerHook, uow.workflows, uow.sql).",
    );
  }

  async transaction<Result>(
    body: (transaction: EngineTransaction) => Promise<Result>,
    { isolation, internal = false }: TransactionOptions = {},
  ): Promise<Result> {
    this.refuseNesting();
    return this.#slots.run(() => this.#transaction(body, internal ? undefined : USERS_LIMITS, isolation));
  }

  #transaction<Result>(
    body: (transaction: EngineTransaction) => Promise<Result>,
    limits: Limits | undefined,
    isolation: Isolation | undefined,
  ): Promise<Result> {
    const run = async (client: PostgresClient) => {
      const query_timeout = SLOW_ANSWER_TIMEOUT_MS;
      const guarded = new GuardedClient(client);
      const transaction: EngineTransaction = {
        client: guarded.client,
        get interrupted() {
          return guarded.interrupted;
        },
        query: async (text, parameters) =>
          (await guarded.client.query({ text, values: [...parameters], query_timeout })).rows,
        commitInstance: (commit) =>
          guarded.last(async () => this.instances.commitWithin(client, commit, await this.#readsSnapshot(isolation))),
        insertHooks: (hooks) => this.hooks.insertWithin(client, hooks),
        settleHooks: (settlements) => guarded.last(() => this.hooks.settle(settlements, {}, client)),
        takeRelays: (relay) => this.hooks.takeRelays(client, relay),
        insertInstances: (instances) => this.instances.insertWithin(client, instances),
        sendEvents: (events) => this.instances.sendEvents(events, client),
        joinLines: (refs) => this.instances.joinLines(client, refs),
      };
      try {
        return await (this.#context === null ? body(transaction) : this.#context.run(() => body(transaction)));
      } finally {
        guarded.finish();
      }
    };
    return this.#connection.transaction(run, limits, isolation);
  }

  /** Whether all statements of such a transaction see what was committed before it began, and nothing newer. */
  async #readsSnapshot(isolation: Isolation | undefined): Promise<boolean> {
    return !/^read /.test(isolation ?? (await this.#defaultIsolation()));
  }

  #defaultIsolation(): Promise<string> {
    this.#isolation ??= this.#connection
      .run(readIsolation(), [])
      .then(({ rows }) => String(rows[0]?.["level"]))
      .catch((error: unknown) => {
        this.#isolation = undefined;
        throw error;
      });
    return this.#isolation;
  }

  foreignInsert(hook: HookInsert): ForeignStatement {
    return foreignTrigger(this.#prefix, hook, this.clock.controlled ? this.clock.now() : null);
  }

  foreignInstances(
    transaction: ForeignTransaction,
    onWritten: (transactionId: string | null) => void,
  ): ForeignInstances {
    return new PostgresForeignInstances(transaction as AsyncTransaction, this.#prefix, this.clock, onWritten);
  }

  enterForeign(transaction: ForeignTransaction): ForeignTransaction {
    return foreignSession(transaction as AsyncTransaction, this.#identity);
  }

  watchCommit(transactionId: string, onCommitted: () => void): () => void {
    return this.#commits.watch(transactionId, onCommitted);
  }

  async migrate(body: (migrator: Migrator) => Promise<void>): Promise<void> {
    await migratePostgres(this.#connection, this.#schema, body);
    await this.#identity.get(); // where there is one connection, a transaction of the application's would hold it
  }

  appliedMigrations(): Promise<AppliedMigration[]> {
    return readAppliedMigrations(this.#connection, this.#schema);
  }

  async close(): Promise<void> {
    await this.#commits.close();
    await this.wakeups.close();
    await this.#connection.close();
  }
}

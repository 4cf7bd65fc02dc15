import { type Clock, pause, systemClock } from "../../clock.ts";
import { PerdureError, SchemaError, StoreError } from "../../errors.ts";
import type { Randomness } from "../../randomness.ts";
import type { Dialect } from "../dialect.ts";
import type { Engine, EngineTransaction, Migrator, TransactionOptions, Wakeups } from "../engine.ts";
import type {
  ForeignInstances,
  ForeignStatement,
  ForeignTransaction,
  SyncTransaction,
} from "../foreign-transaction.ts";
import type { HookInsert } from "../hooks/hook-records.ts";
import type { EventInsertResult } from "../instances/instance-records.ts";
import type { AppliedMigration, Migration } from "../migration.ts";
import type { SqlValue } from "../sql-value.ts";
import type { TransactionContext } from "../transaction-context.ts";
import { endedByBody } from "../transaction-control.ts";
import { SqliteBacklogStatements } from "./backlog-statements.ts";
import type { SqliteAccess, SqliteDriver, SqliteValue } from "./drivers/driver.ts";
import { EventLoopTurns } from "./drivers/event-loop-turns.ts";
import { foreignAccess, foreignDriver } from "./drivers/foreign-driver.ts";
import { GuardedHandle } from "./drivers/guarded-handle.ts";
import { WriteMutex } from "./drivers/write-mutex.ts";
import { isBusy, isReadOnly, toStoreError } from "./errors.ts";
import { foreignSession } from "./foreign-session.ts";
import { SqliteHookStatements } from "./hook-statements.ts";
import { SqliteInstanceStatements } from "./instances/instance-statements.ts";
import { SqliteJobStatements } from "./job-statements.ts";
import { SqliteRequestStatements } from "./request-statements.ts";
import { SqliteScheduleStatements } from "./schedule-statements.ts";
import { MIGRATIONS_TABLE, schemaMigrations } from "./schema.ts";
import { SqliteStreamStatements } from "./stream-statements.ts";
import { SqliteSubjectStatements } from "./subject-statements.ts";
import { SqliteWorkerStatements } from "./worker-statements.ts";

const FIRST_BUSY_PAUSE_MS = 1;
const LONGEST_BUSY_PAUSE_MS = 20;
const BUSY_PATIENCE_MS = 30_000;

/** A savepoint, which ends with its transaction. */
const MARK = "savepoint perdure_mark";
const REMOVE_MARK = "release perdure_mark";

const INSERT_MIGRATION =
  "insert into perdure_migration (owner, number, name, breaking, applied_at) values (?, ?, ?, ?, ?)";

export interface SqliteEngineOptions {
  readonly driver: SqliteDriver;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly wakeups: Wakeups & { close(): void };
  /** Where the runtime has it. */
  readonly transactionContext?: TransactionContext;
  /** Shared by all engines on one connection, where there can be several. Default: one of its own. */
  readonly mutex?: WriteMutex;
}

/**
 * One connection, on which one thing happens at a time: the mutex keeps other callers' statements out of a transaction that
 * waits for user code. Other processes may use the same file: a busy database is asked again without blocking the event loop.
 * Nor do quick answers block it, however many are asked for one after the other.
 */
export class SqliteEngine implements Engine {
  readonly dialect: Dialect = "sqlite";
  readonly flushesInFlight = 1;
  readonly clock: Clock;
  readonly hooks: SqliteHookStatements;
  readonly instances: SqliteInstanceStatements;
  readonly schedules: SqliteScheduleStatements;
  readonly subjects: SqliteSubjectStatements;
  readonly streams: SqliteStreamStatements;
  readonly requests: SqliteRequestStatements;
  readonly jobs: SqliteJobStatements;
  readonly workers: SqliteWorkerStatements;
  readonly backlog: SqliteBacklogStatements;
  readonly wakeups: SqliteEngineOptions["wakeups"];
  readonly schemaMigrations = schemaMigrations;
  readonly #driver: SqliteDriver;
  readonly #randomness: Randomness;
  readonly #context: TransactionContext | undefined;
  readonly #mutex: WriteMutex;
  readonly #turns: EventLoopTurns;
  #closed = false;

  constructor(options: SqliteEngineOptions) {
    this.clock = options.clock;
    this.wakeups = options.wakeups;
    this.#driver = options.driver;
    this.#randomness = options.randomness;
    this.#context = options.transactionContext;
    this.#mutex = options.mutex ?? new WriteMutex();
    this.#turns = new EventLoopTurns(options.clock);
    const { driver } = options;
    const access: SqliteAccess = {
      driver,
      now: () => options.clock.now(),
      read: (body) => this.#exclusive(body),
      readSnapshot: (body) => this.#exclusive(() => this.#inTransaction(body, () => driver.execute("begin"))),
      write: (body) => this.#exclusive(() => this.#inTransaction(body, () => driver.begin())),
    };
    this.hooks = new SqliteHookStatements(access);
    this.instances = new SqliteInstanceStatements(access);
    this.schedules = new SqliteScheduleStatements(access, this.instances);
    this.subjects = new SqliteSubjectStatements(access);
    this.streams = new SqliteStreamStatements(access);
    this.requests = new SqliteRequestStatements(access);
    this.jobs = new SqliteJobStatements(access, this.hooks);
    this.workers = new SqliteWorkerStatements(access);
    this.backlog = new SqliteBacklogStatements(access);
  }

  async transaction<Result>(
    body: (transaction: EngineTransaction) => Promise<Result>,
    { owned = false }: TransactionOptions = {},
  ): Promise<Result> {
    this.#refuseClosed();
    this.refuseNesting();
    const guarded = new GuardedHandle(this.#driver.handle);
    const marked = owned && this.#driver.ownTransactions === undefined;
    const runBody = async () => {
      if (marked) this.#driver.execute(MARK);
      try {
        return await body(this.#transactionWith(guarded, marked));
      } finally {
        guarded.finish();
      }
    };
    const result = await this.#mutex.run(() => this.#inLongTransaction(() => this.#context?.run(runBody) ?? runBody()));
    await this.#turns.next();
    return result;
  }

  #transactionWith(guarded: GuardedHandle, marked: boolean): EngineTransaction {
    const { ownTransactions } = this.#driver;
    const last = async <Result>(statement: () => Result): Promise<Result> => {
      guarded.finish();
      if (marked) this.#removeMark();
      return withStoreErrors(statement);
    };
    return {
      client: guarded.client,
      interrupted: false, // one connection writes at a time
      ...(ownTransactions && { defer: ownTransactions.defer }),
      query: async (text, parameters) => {
        guarded.check(text);
        return this.#driver.all(text, parameters.map(toSqliteValue));
      },
      commitInstance: (commit) => last(() => this.instances.commitNow(commit)),
      insertHooks: async (hooks) => withStoreErrors(() => this.hooks.insertNow(hooks)),
      settleHooks: (settlements) => last(() => this.hooks.settleNow(settlements, { resent: false })),
      takeRelays: async (relay) => withStoreErrors(() => this.hooks.takeRelayNow(relay)),
      insertInstances: async (instances) => withStoreErrors(() => this.instances.insertNow(instances)),
      sendEvents: async (events) => withStoreErrors(() => this.instances.sendNow(events)),
      joinLines: async () => {}, // a create here puts the instance in its line at once
    };
  }

  /** The mark is gone if the transaction was ended on the handle itself, which the application may have, too. */
  #removeMark(): void {
    try {
      this.#driver.execute(REMOVE_MARK);
    } catch {
      throw endedByBody();
    }
  }

  /** A call inside a transaction that waits for the end of that transaction would wait for ever. */
  refuseNesting(): void {
    if (!this.#context?.active()) return;
    throw new PerdureError(
      "transaction.nested",
      "SQLite writes one transaction at a time, and this call was made inside one, so it would wait for itself. " +
        "Inside a unit of work, use its own methods (uow.triggerHook, uow.workflows, uow.sql).",
    );
  }

  enterForeign(transaction: ForeignTransaction): ForeignTransaction {
    return foreignSession(transaction as SyncTransaction, (text, parameters) =>
      this.#driver.all(text, parameters.map(toSqliteValue)),
    );
  }

  /** With or without a key: SQLite has one writer at a time, so no other writer can deadlock with this one. */
  foreignInsert(hook: HookInsert): ForeignStatement {
    return this.hooks.foreignInsert(hook);
  }

  /** On the application's connection, the statements are the same as on ours. */
  foreignInstances(transaction: ForeignTransaction): ForeignInstances {
    const driver = foreignDriver(transaction as SyncTransaction);
    const instances = new SqliteInstanceStatements(foreignAccess(driver, () => this.clock.now()));
    return {
      insert: (inserts) => instances.insertNow(inserts),
      sendEvent: (event) => instances.sendNow([event])[0] as EventInsertResult,
    };
  }

  async migrate(body: (migrator: Migrator) => Promise<void>): Promise<void> {
    this.#refuseClosed();
    const apply = async ({ owner, number, name, breaking, sql }: Migration) => {
      this.#driver.execute(sql);
      this.#driver.run(INSERT_MIGRATION, [owner, number, name, breaking ? 1 : 0, this.clock.now()]);
    };
    await this.#mutex.run(async () => {
      try {
        await this.#inLongTransaction(async () => {
          this.#driver.execute(MIGRATIONS_TABLE);
          await body({ applied: async () => this.#readApplied(), apply });
        });
      } catch (error) {
        throw isReadOnly(error) ? forbidden(error) : toStoreError(error);
      }
    });
  }

  appliedMigrations(): Promise<AppliedMigration[]> {
    return this.#exclusive(() => {
      const known = this.#driver.all(
        "select 1 from sqlite_master where type = 'table' and name = 'perdure_migration'",
        [],
      );
      return known.length === 0 ? [] : this.#readApplied();
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.wakeups.close();
    await this.#mutex.run(() => this.#driver.close());
  }

  /** Runs synchronous work between other callers' transactions, and retries while another process keeps the database busy. */
  async #exclusive<Result>(body: () => Result): Promise<Result> {
    this.#refuseClosed();
    this.refuseNesting();
    const result = await this.#mutex.run(() => this.#retryWhileBusy(body));
    const turn = this.#turns.next();
    if (turn !== undefined) await turn;
    return result;
  }

  #refuseClosed(): void {
    if (this.#closed) throw new PerdureError("store.closed", "The database was closed.");
  }

  #begin(): Promise<void> {
    return this.#retryWhileBusy(() => this.#driver.begin());
  }

  /** For work that waits for others while the transaction is open. */
  async #inLongTransaction<Result>(body: () => Promise<Result>): Promise<Result> {
    if (this.#driver.ownTransactions !== undefined) return this.#driver.ownTransactions.async(body);
    await this.#begin();
    try {
      const result = await body();
      this.#driver.execute("commit");
      return result;
    } catch (error) {
      if (this.#driver.inTransaction()) this.#driver.execute("rollback");
      throw error;
    }
  }

  #inTransaction<Result>(body: () => Result, begin: () => void): Result {
    if (this.#driver.ownTransactions !== undefined) return this.#driver.ownTransactions.sync(body);
    begin();
    try {
      const result = body();
      this.#driver.execute("commit");
      return result;
    } catch (error) {
      if (this.#driver.inTransaction()) this.#driver.execute("rollback");
      throw error;
    }
  }

  async #retryWhileBusy<Result>(body: () => Result): Promise<Result> {
    const giveUpAt = systemClock.monotonic() + BUSY_PATIENCE_MS;
    for (let delay = FIRST_BUSY_PAUSE_MS; ; delay = Math.min(delay * 2, LONGEST_BUSY_PAUSE_MS)) {
      // A handle that the application shares with us may have the application's own transaction open.
      const taken = this.#driver.inTransaction();
      if (!taken) {
        try {
          return body();
        } catch (error) {
          if (!isBusy(error)) throw toStoreError(error);
        }
      }
      if (systemClock.monotonic() > giveUpAt) {
        const reason = taken ? "the application's own transaction was open" : "another process was writing";
        throw new StoreError("store.unavailable", `SQLite was busy for too long: ${reason}.`, { transient: true });
      }
      await pause(systemClock, delay * (0.5 + this.#randomness.fraction()));
    }
  }

  #readApplied(): AppliedMigration[] {
    const rows = this.#driver.all(
      "select owner, number, name, breaking from perdure_migration order by owner, number",
      [],
    );
    return rows.map((row) => ({
      owner: row.owner as string,
      number: Number(row.number),
      name: row.name as string,
      breaking: row.breaking === 1,
    }));
  }
}

function withStoreErrors<Result>(body: () => Result): Result {
  try {
    return body();
  } catch (error) {
    throw toStoreError(error);
  }
}

/** SQLite has no booleans and no dates: 1 and 0, and the text that SQLite's own date functions read. */
function toSqliteValue(value: SqlValue): SqliteValue {
  if (typeof value === "boolean") return value ? 1 : 0;
  return value instanceof Date ? value.toISOString() : value;
}

function forbidden(cause: unknown): SchemaError {
  return new SchemaError(
    "schema.forbidden",
    "The SQLite database can't be migrated, because it can only be read. Open it for writing, and let this process's user write to the " +
      "file and its folder; or run the SQL that sqliteMigrations() of perdure/sqlite returns. Perdure needs to write in any case.",
    { cause },
  );
}

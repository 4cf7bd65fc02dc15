import type { Clock } from "../clock.ts";
import type { Dialect } from "./dialect.ts";
import type { ForeignInstances, ForeignStatement, ForeignTransaction } from "./foreign-transaction.ts";
import type { HookInsert, HookLease, HookSettlement, SettleResult } from "./hooks/hook-records.ts";
import type { HookStatements, InsertResult } from "./hooks/hook-statements.ts";
import type {
  EventInsert,
  EventInsertResult,
  InstanceCommit,
  InstanceCommitResult,
  InstanceInsert,
  InstanceInsertResult,
} from "./instances/instance-records.ts";
import type { InstanceStatements } from "./instances/instance-statements.ts";
import type { JobStatements } from "./jobs/job-statements.ts";
import type { AppliedMigration, Migration } from "./migration.ts";
import type { BacklogStatements } from "./queue/backlog.ts";
import type { RequestStatements } from "./request-statements.ts";
import type { ScheduleStatements } from "./schedules/schedule-statements.ts";
import type { SqlRow, SqlValue } from "./sql-value.ts";
import type { StreamStatements } from "./streams/stream-statements.ts";
import type { SubjectStatements } from "./subjects/subject-statements.ts";
import type { WorkerStatements } from "./workers/worker-statements.ts";

/**
 * The port to a database, in batches. Each method is one statement (or a few, if its comment says so), and carries its own
 * ids, so that sending it again after an unknown outcome does no harm. Every engine passes the same suite.
 *
 * Methods throw `StoreError`, with `transient` set where the same call may succeed later, and nothing else.
 */
export interface Engine {
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly hooks: HookStatements;
  readonly instances: InstanceStatements;
  readonly schedules: ScheduleStatements;
  readonly subjects: SubjectStatements;
  readonly streams: StreamStatements;
  readonly requests: RequestStatements;
  readonly jobs: JobStatements;
  readonly workers: WorkerStatements;
  readonly backlog: BacklogStatements;
  readonly wakeups: Wakeups;
  /** The migrations of Perdure's own tables, in order. */
  readonly schemaMigrations: readonly Migration[];
  /** How many group commits may be under way at once. */
  readonly flushesInFlight: number;

  /** Throws if a call from inside the caller's transaction would wait for that same transaction. */
  refuseNesting(): void;

  /**
   * Runs `body` in a transaction of its own, which is committed when it resolves and rolled back when it rejects. Throws
   * `CommitOutcomeUnknownError` when the reply to the commit was lost.
   */
  transaction<Result>(
    body: (transaction: EngineTransaction) => Promise<Result>,
    options?: TransactionOptions,
  ): Promise<Result>;

  /**
   * A transaction of the application, for the statements below. It refuses to write if no transaction is open, or in
   * a database other than this engine's.
   */
  enterForeign?(transaction: ForeignTransaction): ForeignTransaction;

  /** The statement that writes one trigger in a transaction of the application. A promise only if the codec is asynchronous. */
  foreignInsert(hook: HookInsert): ForeignStatement | Promise<ForeignStatement>;

  /**
   * Creates instances and sends events in a transaction of the application. If writes are confirmed, `onWritten` receives
   * the transaction of each, or null if none was open and nothing was written.
   */
  foreignInstances(
    transaction: ForeignTransaction,
    onWritten: (transactionId: string | null) => void,
  ): ForeignInstances;

  /**
   * Calls back soon after a transaction has committed; never if it doesn't. Returns what to call when it seems to have ended.
   */
  watchCommit?(transactionId: string, onCommitted: () => void): () => void;

  /** Runs `body` in one transaction, while no other process migrates this database. Creates the migrations table if needed. */
  migrate(body: (migrator: Migrator) => Promise<void>): Promise<void>;
  /** The applied migrations; none for a new database. */
  appliedMigrations(): Promise<AppliedMigration[]>;

  close(): Promise<void>;
}

/** Isolation levels of SQL. SQLite and Durable Objects run every transaction as if it were alone. */
export type Isolation = "read committed" | "repeatable read" | "serializable";

export interface TransactionOptions {
  /** Default: that of the database, which is `read committed` in PostgreSQL. */
  readonly isolation?: Isolation;
  /**
   * Whether an owner's commit or settlement is its last statement: then it is noticed if the body has ended the transaction by
   * itself.
   */
  readonly owned?: boolean;
  /** Whether no code of users runs in it, so that it needs no more time than the engine's own statements. */
  readonly internal?: boolean;
}

export interface EngineTransaction {
  /** The driver's own connection or handle. It refuses to begin or end transactions, and everything once this one is over. */
  readonly client: unknown;
  /**
   * Whether the last statement that failed did so for a reason that isn't the caller's: it could not be serialized, was part of
   * a deadlock, or lost its connection. The same transaction may succeed if it is begun again.
   */
  readonly interrupted: boolean;
  /** Used instead of the clock's `defer` while the transaction is open, where that might never call back. */
  readonly defer?: Clock["defer"];
  /** Native SQL with the engine's own placeholders, passed on untouched. Refuses to begin or end transactions. */
  query(text: string, parameters: readonly SqlValue[]): Promise<SqlRow[]>;
  /**
   * Writes an owner's commit, as the last statement of the transaction: where the row isn't its owner's any more, or the
   * position is taken, it is `superseded`, and the transaction must be rolled back.
   */
  commitInstance(commit: InstanceCommit): Promise<InstanceCommitResult>;
  insertHooks(hooks: readonly HookInsert[]): Promise<InsertResult[]>;
  /**
   * Writes how attempts ended, as the last statement of the transaction. A transaction isn't sent again, so a hook with another
   * owner is always `lost`, even if it is gone.
   */
  settleHooks(settlements: readonly HookSettlement[]): Promise<SettleResult[]>;
  /** Takes a relay, and the others of its group in the order in which they were written. Empty if its owner has lost it. */
  takeRelays(relay: HookLease): Promise<TakenRelay[]>;
  insertInstances(instances: readonly InstanceInsert[]): Promise<InstanceInsertResult[]>;
  sendEvents(events: readonly EventInsert[]): Promise<EventInsertResult[]>;
  /** Adds these instances to their lines. */
  joinLines(refs: readonly string[]): Promise<void>;
}

export interface TakenRelay {
  readonly payload: string;
  readonly createdAt: number;
}

export interface Migrator {
  applied(): Promise<AppliedMigration[]>;
  apply(migration: Migration): Promise<void>;
}

/** Between processes: "there may be work in these namespaces". An optimization: polling alone is enough. */
export interface Wakeups {
  /** Whether announcements of other processes reach this one at present. */
  readonly connected: boolean;
  /** Whether this process is the only one that writes to the database. Default: false. */
  readonly alone?: boolean;
  /** Starts listening with the first subscriber and stops with the last. */
  subscribe(listener: (namespaces: readonly string[] | null) => void): () => void;
  /** Tells other processes. Throttled; never throws. */
  announce(namespace: string): void;
}

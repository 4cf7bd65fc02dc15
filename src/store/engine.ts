import type { Clock } from "../clock.ts";
import type { Dialect } from "./dialect.ts";
import type { ForeignInstances, ForeignStatement, ForeignTransaction } from "./foreign-transaction.ts";
import type { HookInsert, HookLease, HookSettlement, SettleResult } from "./hooks/hook-records.ts";
import type { HookStatements, InsertResult } from "./hooks/hook-statements.ts";
import type {
  EventInsert,
  EventInsertResult,
  InstanceInsert,
  InstanceInsertResult,
} from "./instances/instance-records.ts";
import type { InstanceStatements } from "./instances/instance-statements.ts";
import type { AppliedMigration, Migration } from "./migration.ts";
import type { RequestStatements } from "./request-statements.ts";
import type { ScheduleStatements } from "./schedules/schedule-statements.ts";
import type { SqlRow, SqlValue } from "./sql-value.ts";
import type { StreamStatements } from "./streams/stream-statements.ts";
import type { SubjectStatements } from "./subjects/subject-statements.ts";

/**
 * The port to a database, in batches: each method is one statement (or a few, where that is said), and carries its own
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
  readonly wakeups: Wakeups;
  /** The migrations of Perdure's own tables, in order. */
  readonly schemaMigrations: readonly Migration[];
  /** How many group commits may be under way at once. */
  readonly flushesInFlight: number;

  /** Throws where waiting for this engine would wait for the transaction that the caller is in. */
  refuseNesting(): void;

  /**
   * Runs `body` in a transaction of its own, which is committed when it resolves and rolled back when it rejects. Throws
   * `CommitOutcomeUnknownError` when the reply to the commit was lost.
   */
  transaction<Result>(body: (transaction: EngineTransaction) => Promise<Result>): Promise<Result>;

  /**
   * A transaction of the application's, as the statements below need it: it refuses to write where no transaction is open, and in
   * another database than this engine's.
   */
  enterForeign?(transaction: ForeignTransaction): ForeignTransaction;

  /** How to write one trigger in a transaction of the application's. A promise only where a codec is asynchronous. */
  foreignInsert(hook: HookInsert): ForeignStatement | Promise<ForeignStatement>;

  /**
   * How to create instances and send events in a transaction of the application's. Where writes are confirmed, `onWritten` is told
   * of each by its transaction; or by null, if there was none and nothing was written.
   */
  foreignInstances(
    transaction: ForeignTransaction,
    onWritten: (transactionId: string | null) => void,
  ): ForeignInstances;

  /** Tells when a transaction has committed, soon after it has; or never, if it doesn't. */
  watchCommit?(transactionId: string, onCommitted: () => void): void;

  /** Runs `body` while no other process migrates this database, in one transaction. Creates the migrations table if need be. */
  migrate(body: (migrator: Migrator) => Promise<void>): Promise<void>;
  /** The applied migrations; none for a new database. */
  appliedMigrations(): Promise<AppliedMigration[]>;

  close(): Promise<void>;
}

export interface EngineTransaction {
  /** Native SQL with the engine's own placeholders, passed on untouched. */
  query(text: string, parameters: readonly SqlValue[]): Promise<SqlRow[]>;
  insertHooks(hooks: readonly HookInsert[]): Promise<InsertResult[]>;
  /** A transaction isn't sent again: what isn't ours any more is always `lost`, also if it is gone. */
  settleHooks(settlements: readonly HookSettlement[]): Promise<SettleResult[]>;
  /** Takes a relay, and the others of its group in the order in which they were written. Empty if its owner has lost it. */
  takeRelays(relay: HookLease): Promise<TakenRelay[]>;
  insertInstances(instances: readonly InstanceInsert[]): Promise<InstanceInsertResult[]>;
  sendEvents(events: readonly EventInsert[]): Promise<EventInsertResult[]>;
  /** Tells the lines of these instances that they stand there. */
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

/** Between processes: "there may be work in these namespaces". Never relied upon: polling alone is enough. */
export interface Wakeups {
  /** Whether other processes' announcements reach us at present. */
  readonly connected: boolean;
  /** Whether there are no other processes, and nothing happens in this database but by us. Default: false. */
  readonly alone?: boolean;
  /** Starts listening with the first subscriber and stops with the last. */
  subscribe(listener: (namespaces: readonly string[] | null) => void): () => void;
  /** Tells other processes. Throttled; never throws. */
  announce(namespace: string): void;
}

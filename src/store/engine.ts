import type { Clock } from "../clock.ts";
import type { Dialect } from "./dialect.ts";
import type { ForeignInsert } from "./foreign-transaction.ts";
import type { Sending } from "./group-commit.ts";
import type {
  ClaimedHook,
  ClaimRequest,
  HookCount,
  HookFilter,
  HookInsert,
  HookLease,
  HookRecord,
  HookReference,
  HookSettlement,
  HookStatistics,
  QueueScope,
  SettleResult,
} from "./hooks/hook-records.ts";
import type { InstanceStatements } from "./instances/instance-statements.ts";
import type { AppliedMigration, Migration } from "./migration.ts";
import type { RequestStatements } from "./request-statements.ts";
import type { ScheduleStatements } from "./schedules/schedule-statements.ts";
import type { SqlRow, SqlValue } from "./sql-value.ts";
import type { StreamStatements } from "./streams/stream-statements.ts";
import type { SubjectStatements } from "./subjects/subject-statements.ts";

/**
 * What Perdure asks of a database, in batches: each method is one statement (or a few, where that is said), and carries its own
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

  /** How to write one trigger in a transaction of the application's. A promise only where a codec is asynchronous. */
  foreignInsert(hook: HookInsert): ForeignInsert | Promise<ForeignInsert>;

  /** Runs `body` while no other process migrates this database, in one transaction. Creates the migrations table if need be. */
  migrate(body: (migrator: Migrator) => Promise<void>): Promise<void>;
  /** What has been applied, or an empty list where nothing ever was. */
  appliedMigrations(): Promise<AppliedMigration[]>;

  close(): Promise<void>;
}

export interface EngineTransaction {
  /** Native SQL with the engine's own placeholders, passed on untouched. */
  query(text: string, parameters: readonly SqlValue[]): Promise<SqlRow[]>;
  insertHooks(hooks: readonly HookInsert[]): Promise<InsertResult[]>;
  /** A transaction isn't sent again: what isn't ours any more is always `lost`, also if it is gone. */
  settleHooks(settlements: readonly HookSettlement[]): Promise<SettleResult[]>;
}

export interface Migrator {
  applied(): Promise<AppliedMigration[]>;
  apply(migration: Migration): Promise<void>;
}

/** What became of a trigger: a row of its own, part of the pending or running hook of its key, or nothing (its id exists). */
export interface InsertResult {
  readonly result: "inserted" | "collapsed" | "existing";
  /** Of the hook that holds the trigger now. */
  readonly id: string;
  /** The database's time of the insert. */
  readonly at: number;
}

export interface HookStatements {
  /** One statement; all or nothing. Triggers of one key must be merged before. */
  insert(hooks: readonly HookInsert[]): Promise<InsertResult[]>;
  claim(request: ClaimRequest): Promise<ClaimedHook[]>;
  /** Extends leases, each only for its owner. Gives the leases that are still held. */
  renew(leases: readonly HookLease[], leaseMs: number): Promise<HookLease[]>;
  /**
   * Writes how attempts ended, each for itself. The results are in the order of the settlements. What is settled already was so by
   * ourselves if this is sent again (which is assumed, unless the caller knows better); else it is `lost`.
   */
  settle(settlements: readonly HookSettlement[], sending?: Sending): Promise<SettleResult[]>;
  /** Writes how often hooks were tried, each only for its owner. Gives, in the order of the counts, whether it was. */
  count(counts: readonly HookCount[]): Promise<boolean[]>;
  /** Milliseconds until the earliest row in scope is due (zero or less: it is), or null if nothing waits. */
  nextWake(scopes: readonly QueueScope[], options: { takeOver: boolean }): Promise<number | null>;
  /** The tokens of leases in these namespaces. Small: there are as many as there are handlers running. */
  leaseTokens(namespaces: readonly string[]): Promise<string[]>;
  /** What is claimed with one of these tokens. */
  findLeased(namespaces: readonly string[], locks: readonly string[]): Promise<HookLease[]>;
  /** Ends leases early: the rows are due at once, to be taken over. */
  expireLeases(namespaces: readonly string[], locks: readonly string[]): Promise<number>;

  get(reference: HookReference): Promise<HookRecord | null>;
  list(filter: HookFilter): Promise<HookRecord[]>;
  statistics(namespace: string): Promise<HookStatistics>;
  /** Makes dead letters due again with fresh attempts. Gives the ids; one whose key is held by a newer hook is left alone. */
  redrive(namespace: string, ids: readonly string[]): Promise<string[]>;
  /** Deletes finished hooks, dead letters or kept ones. Gives the ids. */
  discard(namespace: string, ids: readonly string[]): Promise<string[]>;
  /** Deletes pending hooks; of running ones it drops the stored trigger that would run them once more. Gives the ids. */
  cancel(namespace: string, target: CancelTarget): Promise<{ cancelled: string[]; running: string[] }>;
  /** Deletes completed hooks that were kept for long enough, at most `limit` of them. Gives the number. */
  purge(namespace: string, limit: number): Promise<number>;
}

export type CancelTarget = { readonly id: string } | { readonly name: string; readonly key: string };

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

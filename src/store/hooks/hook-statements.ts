import type { Sending } from "../group-commit.ts";
import type { ClaimRequest, QueueScope, WakeQuestion } from "../queue/claim-request.ts";
import type { HookAdmitRequest, HookLinePlace, HookLineQuestion } from "./hook-lines.ts";
import type {
  ClaimedHook,
  HookCount,
  HookFilter,
  HookInsert,
  HookLease,
  HookRecord,
  HookReference,
  HookSearch,
  HookSettlement,
  HookStatistics,
  SearchedHook,
  SettleResult,
} from "./hook-records.ts";

/** The result of a trigger: a new row, a part of the pending or running hook of its key, or nothing (its id exists). */
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
  /** Leases hooks with limits, as many as the limits allow. */
  admit(request: HookAdmitRequest): Promise<ClaimedHook[]>;
  /** Deletes some starts of hooks that are older than this. Returns the number. */
  forgetStarts(keptMs: number): Promise<number>;
  /** Extends leases, each only for its owner. Returns the leases that are still held. */
  renew(leases: readonly HookLease[], leaseMs: number): Promise<HookLease[]>;
  /**
   * Writes how attempts ended, each for itself. The results are in the order of the settlements. A row that is settled already
   * was settled by an earlier copy of this request if it is sent again (assumed unless the caller knows better); else it is
   * `lost`.
   */
  settle(settlements: readonly HookSettlement[], sending?: Sending): Promise<SettleResult[]>;
  /** Writes how often hooks were tried, each only for its owner. Returns, in the order of the counts, whether it was. */
  count(counts: readonly HookCount[]): Promise<boolean[]>;
  /** Milliseconds until the earliest row in scope is due (zero or less: it is), or null if nothing waits. */
  nextWake(scopes: readonly QueueScope[], question: WakeQuestion): Promise<number | null>;
  /** The tokens of leases in these namespaces. Small: there are as many as there are handlers running. */
  leaseTokens(namespaces: readonly string[]): Promise<string[]>;
  /** The hooks that are claimed with one of these tokens. */
  findLeased(namespaces: readonly string[], locks: readonly string[]): Promise<HookLease[]>;
  /** Expires leases now, so that other workers can take the rows over. */
  expireLeases(namespaces: readonly string[], locks: readonly string[]): Promise<number>;

  get(reference: HookReference): Promise<HookRecord | null>;
  /** Where a hook stands in its line. */
  placeInLine(question: HookLineQuestion): Promise<HookLinePlace>;
  list(filter: HookFilter): Promise<HookRecord[]>;
  /** The hooks with these ids, in any order. */
  find(namespace: string, ids: readonly string[]): Promise<HookRecord[]>;
  /** Compares hooks, in the order of ids. Returns all that were compared, so that the caller knows how far it came. */
  search(search: HookSearch): Promise<SearchedHook[]>;
  statistics(namespace: string): Promise<HookStatistics>;
  /** Makes dead letters due again with fresh attempts. Returns the ids; one whose key is held by a newer hook is left alone. */
  redrive(namespace: string, ids: readonly string[]): Promise<string[]>;
  /** Deletes finished hooks, dead letters or kept ones. Returns the ids. */
  discard(namespace: string, ids: readonly string[]): Promise<string[]>;
  /** Deletes pending hooks; of running ones it drops the stored trigger that would run them once more. Returns the ids. */
  cancel(namespace: string, target: CancelTarget): Promise<{ cancelled: string[]; running: string[] }>;
  /** Deletes completed hooks that were kept for long enough, at most `limit` of them. Returns the number. */
  purge(namespace: string, limit: number): Promise<number>;
}

export type CancelTarget = { readonly id: string } | { readonly name: string; readonly key: string };

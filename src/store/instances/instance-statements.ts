import type { Sending } from "../group-commit.ts";
import type { HookInsert } from "../hooks/hook-records.ts";
import type { AdmitRequest } from "../lines/line-records.ts";
import type { ClaimRequest, QueueScope } from "../queue/claim-request.ts";
import type {
  ClaimedInstance,
  EventInsert,
  EventInsertResult,
  EventsRequest,
  HistoryFilter,
  InstanceChange,
  InstanceCommit,
  InstanceCommitResult,
  InstanceCount,
  InstanceFilter,
  InstanceHistory,
  InstanceInsert,
  InstanceInsertResult,
  InstanceLease,
  InstanceName,
  InstancePosition,
  InstanceRecord,
  InstanceTarget,
  JournalPage,
  LoadedEvents,
  LoadRequest,
  NamedLease,
  PastRun,
  ProgressRange,
  Reacquisition,
  RenewedInstance,
  RestartRequest,
  RunRange,
} from "./instance-records.ts";

/** The statements for workflows, in batches. An instance is a claimable row like a hook, with a journal. */
export interface InstanceStatements {
  /** One statement; a transaction where there are receipts. The results are in the order of the instances. An instance that is sent again was created by us. */
  insert(instances: readonly InstanceInsert[]): Promise<InstanceInsertResult[]>;

  claim(request: ClaimRequest): Promise<ClaimedInstance[]>;

  /**
   * Admits instances from due lines, as many as the limits allow: instances that have begun first, then by priority, then the oldest.
   * Lines have equal shares of the room. Never exceeds a limit, even if several workers admit at the same time.
   */
  admit(request: AdmitRequest): Promise<ClaimedInstance[]>;

  /** Milliseconds until the first line is due (zero or less: it is), or null. */
  nextAdmission(scopes: readonly QueueScope[]): Promise<number | null>;

  /** Has all lines looked at again, because limits may have changed. Gives whether there are any. */
  openLines(namespaces: readonly string[]): Promise<boolean>;

  /**
   * A page of each of these runs, in one snapshot, of about `PAGE_BYTES` for all of them together: mostly everything. The page of a
   * run may be empty if those before it are large. An instance that is gone or has another run by now is left out.
   */
  load(runs: readonly LoadRequest[]): Promise<InstanceHistory[]>;

  /** Events after a sequence. `wakes` and the events are of one snapshot. A run that is gone is left out. */
  loadEvents(requests: readonly EventsRequest[]): Promise<LoadedEvents[]>;

  /**
   * Adds to journals and writes what became of the instances, each for itself: of one that isn't its sender's any more nothing is
   * written. The results are in the order of the commits. An instance is in a batch only once.
   */
  commit(commits: readonly InstanceCommit[], sending?: Sending): Promise<InstanceCommitResult[]>;

  /**
   * Claims a parked instance again, if no other worker has claimed it since: its `lock` is still the one that it was parked with. `full`: it needs
   * a slot, and all are taken.
   */
  reacquire(parked: InstanceLease, lease: Reacquisition): Promise<RenewedInstance | "full" | null>;

  /** Extends leases, each only for its owner. Gives the leases that are still held. */
  renew(leases: readonly InstanceLease[], leaseMs: number): Promise<RenewedInstance[]>;

  /**
   * Writes that owners begin with what was taken over, each only for its owner. An owner that is lost before that isn't counted.
   * Gives, in the order of the leases, whether it was written.
   */
  confirm(leases: readonly InstanceLease[]): Promise<boolean[]>;

  /** Milliseconds until the earliest row in scope is due (zero or less: it is), or null if nothing waits. */
  nextWake(scopes: readonly QueueScope[], options: { takeOver: boolean }): Promise<number | null>;

  leaseTokens(namespaces: readonly string[]): Promise<string[]>;

  /** The instances that are claimed with one of these tokens. */
  findLeased(namespaces: readonly string[], locks: readonly string[]): Promise<NamedLease[]>;

  /** Expires leases now. The worker that takes a row over counts a recovery. */
  expireLeases(namespaces: readonly string[], locks: readonly string[]): Promise<number>;

  /** Names of workflows that have unfinished instances which aren't paused, but that aren't in the scope. At most 20. */
  unknownNames(scope: QueueScope): Promise<string[]>;

  /**
   * Stores events and makes their instances due. How many wait is counted only where an instance has been sent that many in its life;
   * what is sent from several processes at the same moment may be a few more. The results are in the order of the events, and so are
   * their sequences.
   */
  sendEvents(events: readonly EventInsert[]): Promise<EventInsertResult[]>;

  /** Unclaimed, it isn't due any more; claimed, its owner is told with its next commit. Only if it isn't finished. */
  pause(instance: InstanceTarget): Promise<InstanceChange>;

  /** Only if it is paused, or about to be. It is due at once; an owner that has it goes on. */
  resume(instance: InstanceTarget): Promise<InstanceChange>;

  /** Only if it isn't finished. Its owner has lost it. What `hook` gives for the run is triggered with it. */
  terminate(instance: InstanceTarget, hook?: (run: number) => HookInsert): Promise<InstanceChange>;

  /**
   * Only if it isn't finished, and isn't rolled back already. It is due at once, to be rolled back; one that has done nothing is
   * terminated, and then what `hook` gives for the run is triggered with it. Its owner has lost it.
   */
  rollBack(instance: InstanceTarget, hook?: (run: number) => HookInsert): Promise<InstanceChange>;

  /**
   * Begins the next run, due at once, whatever became of this one, unless that is asked for. Its owner has lost it. With `kept`, only
   * if that is of the present run: the next begins with copies of these entries, and with the events that they received.
   */
  restart(instance: InstanceTarget, request?: RestartRequest): Promise<InstanceChange>;

  /** With everything that belongs to it. Its owner has lost it. */
  delete(instance: InstanceTarget): Promise<InstanceChange>;

  /** In the order of the names; null where there is no such instance. */
  find(instances: readonly InstanceName[]): Promise<(InstanceRecord | null)[]>;

  /** In the order of the refs; null where there is no such instance. */
  positions(refs: readonly string[]): Promise<(InstancePosition | null)[]>;

  /** In the order of refs, which is that of time. */
  list(filter: InstanceFilter): Promise<InstanceRecord[]>;

  /** Of these workflows, or of all; where there are none, there is no count. */
  counts(namespace: string, names: readonly string[] | null): Promise<InstanceCount[]>;

  /**
   * Deletes instances that were kept for long enough, at most `limit` of them, and what deleted ones have left behind, some of it.
   * Gives zero when there was nothing to do.
   */
  purge(namespace: string, limit: number): Promise<number>;

  history(filter: HistoryFilter): Promise<JournalPage>;

  /** Drops what a step told while it ran; it has ended. */
  dropProgress(range: ProgressRange): Promise<void>;

  /** Oldest first; the present run isn't one of them. With a range, at most `limit` of those after the run `after`. */
  pastRuns(instance: InstanceName & { readonly ref: string }, range?: RunRange): Promise<PastRun[]>;
}

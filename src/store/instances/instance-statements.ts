import type { Sending } from "../group-commit.ts";
import type { HookInsert } from "../hooks/hook-records.ts";
import type { AdmitRequest } from "../lines/line-records.ts";
import type { LineQuery, ListedLine } from "../lines/listed-lines.ts";
import type { ClaimRequest, QueueScope, WakeQuestion } from "../queue/claim-request.ts";
import type {
  ClaimedInstance,
  Deadline,
  EventInsert,
  EventInsertResult,
  EventLimits,
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
  InstancePreparation,
  InstanceRecord,
  InstanceScope,
  InstanceSearch,
  InstanceSituation,
  InstanceTarget,
  JournalPage,
  LoadedEvents,
  LoadRequest,
  NamedLease,
  NamedRun,
  PastRun,
  ProgressRange,
  Reacquisition,
  RenewedInstance,
  RestartRequest,
  RunRange,
  SearchedInstance,
  TimedOutRun,
  UnreceivedRecords,
  VersionCount,
  WaitRequest,
  WaitResult,
} from "./instance-records.ts";

/** The statements for workflows, in batches. An instance is a claimable row like a hook, with a journal. */
export interface InstanceStatements {
  /**
   * One statement; a transaction where there are receipts. The results are in the order of the instances. An instance that is
   * sent again was created by us.
   */
  insert(instances: readonly InstanceInsert[]): Promise<InstanceInsertResult[]>;

  claim(request: ClaimRequest): Promise<ClaimedInstance[]>;

  /**
   * Admits instances from due lines, as many as the limits allow: instances that have begun first, then by priority, then the
   * oldest. Lines have equal shares of the room. Never exceeds a limit, even if several workers admit at the same time.
   */
  admit(request: AdmitRequest): Promise<ClaimedInstance[]>;

  /** Milliseconds until the first line is due (zero or less: it is), or null. */
  nextAdmission(scopes: readonly QueueScope[]): Promise<number | null>;

  /** Makes all lines due, because limits may have changed. Returns whether there are any. */
  openLines(namespaces: readonly string[]): Promise<boolean>;

  /**
   * A page of each of these runs, in one snapshot, of about `PAGE_BYTES` for all of them together: mostly everything. The page
   * of a run may be empty if those before it are large. An instance that is gone or has another run by now is left out.
   */
  load(runs: readonly LoadRequest[]): Promise<InstanceHistory[]>;

  /** Events after a sequence. `wakes` and the events are of one snapshot. A run that is gone is left out. */
  loadEvents(requests: readonly EventsRequest[]): Promise<LoadedEvents[]>;

  /**
   * Adds entries to journals and writes outcomes, each commit for itself: for an instance that has another owner, nothing is
   * written. The results are in the order of the commits. An instance is in a batch only once.
   */
  commit(commits: readonly InstanceCommit[], sending?: Sending): Promise<InstanceCommitResult[]>;

  /**
   * Claims a parked instance again, if no other worker has claimed it since: its `lock` is still the one that it was parked
   * with. `full`: it needs a slot, and all are taken.
   */
  reacquire(parked: InstanceLease, lease: Reacquisition): Promise<RenewedInstance | "full" | null>;

  /**
   * Completes an instance that was created in SQL, and gives it back as if it had just been created: in a line, if it has
   * limits. Changes nothing unless the lease is held. Where instances can't be created in SQL, it is missing.
   */
  prepare?(instance: ClaimedInstance, preparation: InstancePreparation): Promise<void>;

  /** Extends leases, each only for its owner. Returns the leases that are still held. */
  renew(leases: readonly InstanceLease[], leaseMs: number): Promise<RenewedInstance[]>;

  /**
   * Writes that owners begin instances that they took over, each only for its owner. An owner that is lost earlier isn't
   * counted. Returns, in the order of the leases, whether it was written.
   */
  confirm(leases: readonly InstanceLease[]): Promise<boolean[]>;

  /** Milliseconds until the earliest row in scope is due (zero or less: it is), or null if nothing waits. */
  nextWake(scopes: readonly QueueScope[], question: WakeQuestion): Promise<number | null>;

  leaseTokens(namespaces: readonly string[]): Promise<string[]>;

  /** The instances that are claimed with one of these tokens. */
  findLeased(namespaces: readonly string[], locks: readonly string[]): Promise<NamedLease[]>;

  /** Expires leases now. The worker that takes a row over counts a recovery. */
  expireLeases(namespaces: readonly string[], locks: readonly string[]): Promise<number>;

  /** Names of workflows that have unfinished instances which aren't paused, but that aren't in the scope. At most 20. */
  unknownNames(scope: QueueScope): Promise<string[]>;

  /**
   * How many unfinished instances each version of these workflows has; null counts all. With a limit, only so many of each
   * workflow are counted, the oldest first; or, where instances are listed by status, of each status.
   */
  unfinishedVersions(scope: QueueScope, limit: number | null): Promise<VersionCount[]>;

  /**
   * Stores events and makes their instances due. Pending events are counted only if the instance has been sent that many in its
   * life; several processes that send at the same moment may exceed the limit by a few. The results are in the order of the
   * events, and so are their sequences.
   */
  sendEvents(events: readonly EventInsert[]): Promise<EventInsertResult[]>;

  /**
   * Makes these runs wait for the ends of instances. The write that ends an instance sends an event to each of its waiters, in
   * the same transaction, and makes them due. Sent again, a wait is there once. The results are in the order of the requests.
   */
  awaitEnds(requests: readonly WaitRequest[]): Promise<WaitResult[]>;

  /**
   * An instance without an owner is no longer due; an owner learns of the pause with its next commit. Only if it isn't
   * finished.
   * `by` names who paused it; of two pauses the first counts.
   */
  pause(instance: InstanceTarget, by?: string | null): Promise<InstanceChange>;

  /** Only if it is paused, or about to be, or held because its code has diverged. It is due at once; an owner goes on. */
  resume(instance: InstanceTarget): Promise<InstanceChange>;

  /** Only if it isn't finished. Its owner loses it. The hook that `hook` returns for the run is triggered with it. */
  terminate(instance: InstanceTarget, hook?: (run: number) => HookInsert): Promise<InstanceChange>;

  /**
   * Only if it isn't finished or rolling back. It is due at once, to be rolled back; an instance that has done nothing is
   * terminated, and then the hook that `hook` returns for the run is triggered with it. Its owner loses it.
   */
  rollBack(instance: InstanceTarget, hook?: (run: number) => HookInsert): Promise<InstanceChange>;

  /**
   * Only if its deadline is over, and it isn't finished or rolling back. It is due at once, to be rolled back and to end with
   * the error; an instance that has done nothing ends at once. Its owner loses it.
   */
  timeOut(run: TimedOutRun): Promise<InstanceChange>;

  /** The earliest deadlines of unfinished instances that aren't rolling back, in order. */
  deadlines(scope: QueueScope, limit: number): Promise<Deadline[]>;

  /**
   * Begins the next run, due at once, if the status of the present one is among those wanted. Its owner loses it. With `kept`,
   * only if `kept` names the present run: the next begins with copies of these entries, and with the events that they received.
   */
  restart(instance: InstanceTarget, request?: RestartRequest): Promise<InstanceChange>;

  /** Deletes an instance with its dependents. Its owner loses it. */
  delete(instance: InstanceTarget): Promise<InstanceChange>;

  /** In the order of the names; null where there is no such instance. */
  find(instances: readonly InstanceName[]): Promise<(InstanceRecord | null)[]>;

  /** In the order of the refs; null where there is no such instance. */
  positions(refs: readonly string[]): Promise<(InstancePosition | null)[]>;

  /** Where it stands in the queue; null if there is no such instance. Up to four reads, if it stands in line. */
  situation(ref: string): Promise<InstanceSituation | null>;

  /** The events that callers have sent to a run and no step has received. */
  unreceivedEvents(run: NamedRun, limits: EventLimits): Promise<UnreceivedRecords>;

  /** A page of lines with those inside and those that wait, in the order of keys. */
  lines(query: LineQuery): Promise<ListedLine[]>;

  /** In the order of refs, which is that of time. */
  list(filter: InstanceFilter): Promise<InstanceRecord[]>;

  /**
   * How far a list comes that passes so many entries of its index, before it compares times, further labels and, in a list by
   * labels, statuses: the ref of the last of them, or a nearer one. Null if there are fewer.
   */
  reach(filter: InstanceFilter, entries: number): Promise<string | null>;

  /** Compares instances, in the order of refs. Returns all that were compared, so that the caller knows how far it came. */
  search(search: InstanceSearch): Promise<SearchedInstance[]>;

  /** The refs of instances whose ids begin alike, of one workflow or of all; at most `limit`, in any order. */
  findByIdPrefix(scope: InstanceScope, prefix: string, limit: number): Promise<string[]>;

  /**
   * Counts by workflow and status, of these workflows or of all. A count of zero may be left out, and a status may have several
   * counts, to be added. Counting a status may stop at `most`; null counts all.
   */
  counts(namespace: string, names: readonly string[] | null, most: number | null): Promise<InstanceCount[]>;

  /**
   * The same of all workflows, for the instances that have all of these labels, of which there is at least one: those whose refs
   * come after `from` or are the same; null counts all.
   */
  labelledCounts(namespace: string, labels: InstanceFilter["labels"], from: string | null): Promise<InstanceCount[]>;

  /**
   * Deletes at most `limit` instances whose retention is over, and some of the dependents of deleted instances.
   * Returns zero when there was nothing to do.
   */
  purge(namespace: string, limit: number): Promise<number>;

  history(filter: HistoryFilter): Promise<JournalPage>;

  /** Drops the progress of a step that has ended. */
  dropProgress(range: ProgressRange): Promise<void>;

  /** Oldest first; the present run isn't one of them. With a range, at most `limit` of those after the run `after`. */
  pastRuns(instance: InstanceName & { readonly ref: string }, range?: RunRange): Promise<PastRun[]>;
}

import { StoreError } from "../../errors.ts";
import type { Sending } from "../group-commit.ts";
import type { HookInsert } from "../hooks/hook-records.ts";
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
} from "../instances/instance-records.ts";
import type { InstanceStatements } from "../instances/instance-statements.ts";
import type { AdmitRequest } from "../lines/line-records.ts";
import type { LineQuery, ListedLine } from "../lines/listed-lines.ts";
import type { ClaimRequest, QueueScope, WakeQuestion } from "../queue/claim-request.ts";
import { InstanceValues } from "./instance-values.ts";
import type { ValueCodec } from "./value-codec.ts";

type NamedInstance = InstanceName & { readonly ref: string };

/** Instances with their params, results, errors and events encoded. */
export class CodecInstanceStatements implements InstanceStatements {
  readonly #inner: InstanceStatements;
  readonly #values: InstanceValues;
  /** A call that is sent again must send the same text, because encoding a value twice gives two texts. */
  /** By their entries, or by their outcomes where they have none: both stay the same when a commit is sent again. */
  readonly #encodedCommits = new WeakMap<InstanceCommit["entries"] | InstanceCommit["outcome"], InstanceCommit>();

  constructor(inner: InstanceStatements, codec: ValueCodec) {
    this.#inner = inner;
    this.#values = new InstanceValues(codec);
  }

  encodeInserts(instances: readonly InstanceInsert[]): Promise<InstanceInsert[]> {
    return Promise.all(instances.map((instance) => this.#values.encodeInsert(instance)));
  }

  encodeEvents(events: readonly EventInsert[]): Promise<EventInsert[]> {
    return Promise.all(events.map((event) => this.#values.encodeEvent(event)));
  }

  encodeCommit(commit: InstanceCommit): Promise<InstanceCommit> {
    return this.#values.encodeCommit(commit);
  }

  async insert(instances: readonly InstanceInsert[]): Promise<InstanceInsertResult[]> {
    return this.#inner.insert(await this.encodeInserts(instances));
  }

  async claim(request: ClaimRequest): Promise<ClaimedInstance[]> {
    const claimed = await this.#inner.claim(request);
    return Promise.all(claimed.map((instance) => this.#values.decodeParams(instance)));
  }

  async admit(request: AdmitRequest): Promise<ClaimedInstance[]> {
    const admitted = await this.#inner.admit(request);
    return Promise.all(admitted.map((instance) => this.#values.decodeParams(instance)));
  }

  nextAdmission(scopes: readonly QueueScope[]): Promise<number | null> {
    return this.#inner.nextAdmission(scopes);
  }

  openLines(namespaces: readonly string[]): Promise<boolean> {
    return this.#inner.openLines(namespaces);
  }

  async load(runs: readonly LoadRequest[]): Promise<InstanceHistory[]> {
    const histories = await this.#inner.load(runs);
    const names = namesByRef(runs);
    const decode = async (history: InstanceHistory): Promise<InstanceHistory> => {
      const instance = names.get(history.ref) as NamedInstance;
      return {
        ...history,
        entries: await this.#values.decodeEntries(instance, history.entries),
        events: await this.#values.decodeEvents(instance, history.events),
      };
    };
    return Promise.all(histories.map(decode));
  }

  async loadEvents(requests: readonly EventsRequest[]): Promise<LoadedEvents[]> {
    const loaded = await this.#inner.loadEvents(requests);
    const names = namesByRef(requests);
    const decode = async (one: LoadedEvents): Promise<LoadedEvents> => ({
      ...one,
      events: await this.#values.decodeEvents(names.get(one.ref) as NamedInstance, one.events),
    });
    return Promise.all(loaded.map(decode));
  }

  async commit(commits: readonly InstanceCommit[], sending?: Sending): Promise<InstanceCommitResult[]> {
    return this.#inner.commit(await Promise.all(commits.map((commit) => this.#encodeOnce(commit))), sending);
  }

  reacquire(parked: InstanceLease, lease: Reacquisition): Promise<RenewedInstance | "full" | null> {
    return this.#inner.reacquire(parked, lease);
  }

  async prepare(instance: ClaimedInstance, preparation: InstancePreparation): Promise<void> {
    const { params } = await this.#values.encodeParams({ ...instance, params: preparation.params });
    await this.#inner.prepare?.(instance, { ...preparation, params });
  }

  renew(leases: readonly InstanceLease[], leaseMs: number): Promise<RenewedInstance[]> {
    return this.#inner.renew(leases, leaseMs);
  }

  nextWake(scopes: readonly QueueScope[], question: WakeQuestion): Promise<number | null> {
    return this.#inner.nextWake(scopes, question);
  }

  confirm(leases: readonly InstanceLease[]): Promise<boolean[]> {
    return this.#inner.confirm(leases);
  }

  findLeased(namespaces: readonly string[], locks: readonly string[]): Promise<NamedLease[]> {
    return this.#inner.findLeased(namespaces, locks);
  }

  leaseTokens(namespaces: readonly string[]): Promise<string[]> {
    return this.#inner.leaseTokens(namespaces);
  }

  expireLeases(namespaces: readonly string[], locks: readonly string[]): Promise<number> {
    return this.#inner.expireLeases(namespaces, locks);
  }

  unfinishedVersions(scope: QueueScope, limit: number | null): Promise<VersionCount[]> {
    return this.#inner.unfinishedVersions(scope, limit);
  }

  unknownNames(scope: QueueScope): Promise<string[]> {
    return this.#inner.unknownNames(scope);
  }

  async awaitEnds(requests: readonly WaitRequest[]): Promise<WaitResult[]> {
    const results = await this.#inner.awaitEnds(requests);
    const decode = async (result: WaitResult): Promise<WaitResult> =>
      result.result === "ended" ? { ...result, end: await this.#values.decodeNotice(result.end) } : result;
    return Promise.all(results.map(decode));
  }

  async sendEvents(events: readonly EventInsert[]): Promise<EventInsertResult[]> {
    return this.#inner.sendEvents(await this.encodeEvents(events));
  }

  pause(instance: InstanceTarget, by?: string | null): Promise<InstanceChange> {
    return this.#change(this.#inner.pause(instance, by));
  }

  resume(instance: InstanceTarget): Promise<InstanceChange> {
    return this.#change(this.#inner.resume(instance));
  }

  /** The hook must be encoded before the call: for the present run, and again if the instance has another run by then. */
  terminate(instance: InstanceTarget, hook?: (run: number) => HookInsert): Promise<InstanceChange> {
    return this.#end("terminate", instance, hook);
  }

  rollBack(instance: InstanceTarget, hook?: (run: number) => HookInsert): Promise<InstanceChange> {
    return this.#end("rollBack", instance, hook);
  }

  async timeOut(run: TimedOutRun): Promise<InstanceChange> {
    return this.#change(this.#inner.timeOut(await this.#values.encodeTimedOut(run)));
  }

  deadlines(scope: QueueScope, limit: number): Promise<Deadline[]> {
    return this.#inner.deadlines(scope, limit);
  }

  async #end(
    operation: "terminate" | "rollBack",
    instance: InstanceName,
    hook?: (run: number) => HookInsert,
  ): Promise<InstanceChange> {
    if (hook === undefined) return this.#change(this.#inner[operation](instance));
    for (;;) {
      const [record] = await this.#inner.find([instance]);
      const run = record?.run ?? 1;
      const encoded = await this.#values.encodeHook(hook(run));
      let restarted = false;
      const encodedHook = (present: number): HookInsert => {
        restarted = present !== run;
        if (restarted) throw new StoreError("store.unavailable", "The instance was restarted.", { transient: true });
        return encoded;
      };
      try {
        return await this.#change(this.#inner[operation](instance, encodedHook));
      } catch (error) {
        if (!restarted) throw error;
      }
    }
  }

  async restart(instance: InstanceName, request?: RestartRequest): Promise<InstanceChange> {
    if (request === undefined || request.params === null) return this.#change(this.#inner.restart(instance, request));
    const [present] = await this.#inner.find([instance]); // new params are bound to the ref, which only the database knows
    if (!present) return { changed: false, instance: null };
    const { params } = await this.#values.encodeParams({ ...instance, ref: present.ref, params: request.params });
    return this.#change(this.#inner.restart(instance, { ...request, params }));
  }

  delete(instance: InstanceTarget): Promise<InstanceChange> {
    return this.#change(this.#inner.delete(instance));
  }

  async find(instances: readonly InstanceName[]): Promise<(InstanceRecord | null)[]> {
    const found = await this.#inner.find(instances);
    return Promise.all(found.map((record) => (record === null ? null : this.#values.decodeRecord(record))));
  }

  positions(refs: readonly string[]): Promise<(InstancePosition | null)[]> {
    return this.#inner.positions(refs);
  }

  situation(ref: string): Promise<InstanceSituation | null> {
    return this.#inner.situation(ref);
  }

  lines(query: LineQuery): Promise<ListedLine[]> {
    return this.#inner.lines(query);
  }

  async unreceivedEvents(run: NamedRun, limits: EventLimits): Promise<UnreceivedRecords> {
    const { total, events } = await this.#inner.unreceivedEvents(run, limits);
    return { total, events: await this.#values.decodeUnreceived({ ...run.instance, ref: run.ref }, events) };
  }

  async list(filter: InstanceFilter): Promise<InstanceRecord[]> {
    const records = await this.#inner.list(filter);
    return Promise.all(records.map((record) => this.#values.decodeRecord(record)));
  }

  reach(filter: InstanceFilter, entries: number): Promise<string | null> {
    return this.#inner.reach(filter, entries);
  }

  async search(search: InstanceSearch): Promise<SearchedInstance[]> {
    const found = await this.#inner.search(search);
    return Promise.all(found.map((one) => this.#values.decodeError(one)));
  }

  findByIdPrefix(scope: InstanceScope, prefix: string, limit: number): Promise<string[]> {
    return this.#inner.findByIdPrefix(scope, prefix, limit);
  }

  counts(namespace: string, names: readonly string[] | null, most: number | null): Promise<InstanceCount[]> {
    return this.#inner.counts(namespace, names, most);
  }

  labelledCounts(namespace: string, labels: InstanceFilter["labels"], from: string | null): Promise<InstanceCount[]> {
    return this.#inner.labelledCounts(namespace, labels, from);
  }

  purge(namespace: string, limit: number): Promise<number> {
    return this.#inner.purge(namespace, limit);
  }

  dropProgress(range: ProgressRange): Promise<void> {
    return this.#inner.dropProgress(range);
  }

  async history(filter: HistoryFilter): Promise<JournalPage> {
    const { entries, full } = await this.#inner.history(filter);
    return { entries: await this.#values.decodeHistory({ ...filter.instance, ref: filter.ref }, entries), full };
  }

  async pastRuns(instance: NamedInstance, range?: RunRange): Promise<PastRun[]> {
    const runs = await this.#inner.pastRuns(instance, range);
    return Promise.all(runs.map((run) => this.#values.decodeEnd(instance, run)));
  }

  async #encodeOnce(commit: InstanceCommit): Promise<InstanceCommit> {
    const key = commit.entries.length > 0 ? commit.entries : commit.outcome;
    const known = this.#encodedCommits.get(key);
    if (known !== undefined && isAgain(commit, known)) return known;
    const encoded = await this.#values.encodeCommit(commit);
    this.#encodedCommits.set(key, encoded);
    return encoded;
  }

  async #change(changing: Promise<InstanceChange>): Promise<InstanceChange> {
    const change = await changing;
    return change.instance === null
      ? change
      : { ...change, instance: await this.#values.decodeRecord(change.instance) };
  }
}

/** Commits of many instances may share an outcome that has no value. */
function isAgain(commit: InstanceCommit, known: InstanceCommit): boolean {
  const { ref, run, lock, position } = commit;
  return ref === known.ref && run === known.run && lock === known.lock && position === known.position;
}

function namesByRef(runs: readonly NamedRun[]): Map<string, NamedInstance> {
  return new Map(runs.map(({ ref, instance: { namespace, name, id } }) => [ref, { namespace, name, id, ref }]));
}

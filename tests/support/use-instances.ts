import {
  type ClaimedInstance,
  type EventInsert,
  type EventInsertResult,
  type HistoryEntry,
  type HistoryFilter,
  INSTANCE_STATUSES,
  type InstanceCommit,
  type InstanceCommitResult,
  type InstanceFilter,
  type InstanceHistory,
  type InstanceInsert,
  type InstanceInsertResult,
  type InstanceLease,
  type InstanceName,
  type InstanceOutcome,
  type InstanceRecord,
  type InstanceRun,
  type InstanceStatus,
  type InstanceTraits,
  type JournalPage,
  type NewEntry,
  NO_TRAITS,
  type PastRun,
} from "../../src/store/instances/instance-records.ts";
import type { InstanceStatements } from "../../src/store/instances/instance-statements.ts";
import type { AdmitRequest, LineLimits } from "../../src/store/lines/line-records.ts";
import type { ClaimRequest } from "../../src/store/queue/claim-request.ts";
import type { ControlledClock } from "./controlled-clock.ts";
import type { TestEngine } from "./engines.ts";
import { NAMED } from "./named.ts";
import { LEASE_MS, type StoreUnderTest, useStore } from "./use-store.ts";

export { LEASE_MS } from "./use-store.ts";

export const RUNNING: InstanceOutcome = { kind: "running" };
export const RELEASED: InstanceOutcome = { kind: "released" };
export const COMPLETED: InstanceOutcome = { kind: "completed", output: '{"sum":7}' };
export const ERRORED: InstanceOutcome = { kind: "errored", error: '{"message":"no"}' };

/** How long instances sleep that tests put to sleep. */
export const SLEEP_MS = 3_600_000;

/** A database for the tests of one `describe`, and a namespace of its own for each of them. Time stands still. */
export function useInstances(engine: TestEngine): InstancesUnderTest {
  return new InstancesUnderTest(useStore(engine));
}

export interface ListedInstances extends Partial<InstanceFilter> {
  /** One status, or all. */
  readonly status?: InstanceStatus | null;
}

export interface CommitDetails {
  readonly position?: number;
  readonly entries?: readonly NewEntry[];
  readonly resent?: boolean;
  /** Whether it holds a slot. */
  readonly limited?: boolean;
}

/** Short ways to do what most tests do. Everything is in the test's namespace; what a test doesn't say has a plain default. */
export class InstancesUnderTest {
  readonly #test: StoreUnderTest;
  #refs = 0;
  #locks = 0;

  constructor(test: StoreUnderTest) {
    this.#test = test;
  }

  get store(): StoreUnderTest {
    return this.#test;
  }

  get clock(): ControlledClock {
    return this.#test.clock;
  }

  get now(): number {
    return this.clock.now();
  }

  get namespace(): string {
    return this.#test.namespace;
  }

  get statements(): InstanceStatements {
    return this.#test.store.engine.instances;
  }

  /** The outcome of an owner that parks the instance for a while, having seen so many wakes. */
  parked(wakes: number) {
    return { kind: "parked", dueAt: this.now + SLEEP_MS, wakes } as const;
  }

  /** The result of a commit that was written now. */
  written(known: { wakes?: number; paused?: boolean } = {}) {
    return { result: "written", at: this.now, wakes: 0, paused: false, ...known };
  }

  /** The names of the steps in the journal. */
  async namesIn({ ref }: { readonly ref: string }): Promise<string[]> {
    return (await this.history(ref)).map(({ name }) => name);
  }

  named(id: string): InstanceName {
    return { namespace: this.namespace, name: "checkout", id };
  }

  /** Refs rise, and so do ids: `instance-000001`. */
  instance(overrides: Partial<InstanceInsert> = {}): InstanceInsert {
    const number = String(++this.#refs).padStart(6, "0");
    return {
      ...this.named(`instance-${number}`),
      ref: `ref-${number}`,
      version: 0,
      params: "null",
      parent: null,
      traits: null,
      lease: null,
      ...overrides,
    };
  }

  async create(overrides: Partial<InstanceInsert> = {}): Promise<InstanceInsertResult> {
    const [result] = await this.statements.insert([this.instance(overrides)]);
    return result as InstanceInsertResult;
  }

  /** Returns the ids. */
  async createMany(count: number, overrides: Partial<InstanceInsert> = {}): Promise<string[]> {
    const instances = Array.from({ length: count }, () => this.instance(overrides));
    await this.statements.insert(instances);
    return instances.map(({ id }) => id);
  }

  request(overrides: Partial<ClaimRequest> = {}): ClaimRequest {
    const scopes = [{ namespace: this.namespace, names: ["checkout"] }];
    return { scopes, limit: 10, takeOver: true, lock: `lock-${++this.#locks}`, leaseMs: LEASE_MS, ...overrides };
  }

  claim(overrides: Partial<ClaimRequest> = {}): Promise<ClaimedInstance[]> {
    return this.statements.claim(this.request(overrides));
  }

  async claimOne(overrides: Partial<ClaimRequest> = {}): Promise<ClaimedInstance> {
    const claimed = await this.claim(overrides);
    if (claimed.length !== 1) throw new Error(`Expected to claim one instance, got ${claimed.length}.`);
    return claimed[0] as ClaimedInstance;
  }

  /** Creates one that stands in line. */
  join(id: string, traits: Partial<InstanceTraits>): Promise<InstanceInsertResult> {
    return this.create({ id, traits: { ...NO_TRAITS, ...traits } });
  }

  /** Lets in from lines, with these limits. */
  admit(limits: Partial<LineLimits>, overrides: Partial<AdmitRequest> = {}): Promise<ClaimedInstance[]> {
    const limitsOf = () => ({ slots: null, starts: null, ...limits });
    const versionsOf = () => [0];
    const scopes = [{ namespace: this.namespace, names: ["checkout"] }];
    const lock = `lock-${++this.#locks}`;
    return this.statements.admit({ scopes, limitsOf, versionsOf, room: 10, lock, leaseMs: LEASE_MS, ...overrides });
  }

  /** Milliseconds until the next line is due. */
  nextAdmission(): Promise<number | null> {
    return this.statements.nextAdmission([{ namespace: this.namespace, names: ["checkout"] }]);
  }

  /** Creates an instance and claims it. */
  async start(overrides: Partial<InstanceInsert> = {}): Promise<ClaimedInstance> {
    await this.create(overrides);
    return this.claimOne();
  }

  entry(overrides: Partial<NewEntry> = {}): NewEntry {
    return {
      kind: "completed",
      type: "do",
      name: "charge",
      count: 1,
      attempt: 1,
      value: "1",
      dueAt: null,
      event: null,
      parent: null,
      ...overrides,
    };
  }

  commitOf({ ref, run, lock }: InstanceLease, outcome: InstanceOutcome, details: CommitDetails = {}): InstanceCommit {
    return {
      ref,
      run,
      lock,
      instance: NAMED,
      position: details.position ?? 1,
      limited: details.limited ?? false,
      entries: details.entries ?? [],
      outcome,
    };
  }

  async commit(
    lease: InstanceLease,
    outcome: InstanceOutcome,
    details: CommitDetails = {},
  ): Promise<InstanceCommitResult> {
    const sending = { resent: details.resent ?? false };
    const [result] = await this.statements.commit([this.commitOf(lease, outcome, details)], sending);
    return result as InstanceCommitResult;
  }

  /** Puts to sleep what has seen all its wakes. */
  park(instance: InstanceLease & { wakes: number }, details: CommitDetails & { dueAt?: number } = {}) {
    const dueAt = details.dueAt ?? this.now + SLEEP_MS;
    return this.commit(instance, { kind: "parked", dueAt, wakes: instance.wakes }, details);
  }

  async load(run: InstanceRun): Promise<InstanceHistory | undefined> {
    return (await this.loadAll([run]))[0];
  }

  loadAll(runs: readonly InstanceRun[]): Promise<InstanceHistory[]> {
    return this.statements.load(runs.map(({ ref, run }) => ({ ref, run, instance: NAMED })));
  }

  event(id: string, overrides: Partial<EventInsert> = {}): EventInsert {
    return { ...this.named(id), eventId: "event-1", type: "approved", payload: "true", ...overrides };
  }

  async send(id: string, overrides: Partial<EventInsert> = {}): Promise<EventInsertResult> {
    const [result] = await this.statements.sendEvents([this.event(id, overrides)]);
    return result as EventInsertResult;
  }

  async find(id: string): Promise<InstanceRecord | null> {
    return (await this.statements.find([this.named(id)]))[0] ?? null;
  }

  list(listed: ListedInstances = {}): Promise<InstanceRecord[]> {
    return this.statements.list(this.filter(listed));
  }

  reach(entries: number, listed: ListedInstances = {}): Promise<string | null> {
    return this.statements.reach(this.filter(listed), entries);
  }

  filter({ status = null, ...filter }: ListedInstances = {}): InstanceFilter {
    return {
      namespace: this.namespace,
      name: null,
      statuses: status === null ? INSTANCE_STATUSES : [status],
      labels: [],
      createdFrom: null,
      createdBefore: null,
      finishedFrom: null,
      finishedBefore: null,
      after: null,
      order: "oldest",
      limit: 100,
      ...filter,
    };
  }

  async history(ref: string, filter: Partial<HistoryFilter> = {}): Promise<HistoryEntry[]> {
    return (await this.historyPage(ref, filter)).entries;
  }

  historyPage(ref: string, filter: Partial<HistoryFilter> = {}): Promise<JournalPage> {
    return this.statements.history({
      ref,
      instance: NAMED,
      run: null,
      after: null,
      order: "oldest",
      limit: 100,
      maxBytes: 1e9,
      ...filter,
    });
  }

  pastRuns(ref: string): Promise<PastRun[]> {
    return this.statements.pastRuns({ ...NAMED, ref });
  }

  nextWake(names: readonly string[] = ["checkout"], takeOver = true): Promise<number | null> {
    return this.statements.nextWake([{ namespace: this.namespace, names }], { takeOver });
  }
}

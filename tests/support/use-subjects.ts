import type {
  ClaimedSubjects,
  SubjectChange,
  SubjectChangeKind,
  SubjectChangeResult,
  SubjectClaim,
  SubjectFilter,
  SubjectRecord,
  SubjectScope,
  SubjectSync,
  SyncBatch,
  SyncCounts,
} from "../../src/store/subjects/subject-records.ts";
import type { SubjectStatements } from "../../src/store/subjects/subject-statements.ts";
import type { ControlledClock } from "./controlled-clock.ts";
import type { TestEngine } from "./engines.ts";
import { LEASE_MS, type StoreUnderTest, useStore } from "./use-store.ts";

export { LEASE_MS } from "./use-store.ts";

/** A database for the tests of one `describe`, and a profile of its own for each of them. Time stands still. */
export function useSubjects(engine: TestEngine): SubjectsUnderTest {
  return new SubjectsUnderTest(useStore(engine));
}

/** Short ways to do what most tests do. Everything is in the test's profile; what a test doesn't say has a plain default. */
export class SubjectsUnderTest {
  readonly test: StoreUnderTest;
  #changes = 0;

  constructor(test: StoreUnderTest) {
    this.test = test;
  }

  get clock(): ControlledClock {
    return this.test.clock;
  }

  get now(): number {
    return this.clock.now();
  }

  get statements(): SubjectStatements {
    return this.test.store.engine.subjects;
  }

  get scope(): SubjectScope {
    return { profile: this.test.namespace, dispatcherId: "inventory" };
  }

  discovered(subjectKey: string, overrides: Partial<SubjectSync> = {}): SubjectSync {
    return { subjectKey, group: null, cursor: null, meta: null, dueAt: null, ...overrides };
  }

  sync(subjects: readonly (string | SubjectSync)[], overrides: Partial<SyncBatch> = {}): Promise<SyncCounts> {
    const all = subjects.map((one) => (typeof one === "string" ? this.discovered(one) : one));
    return this.statements.sync({ ...this.scope, subjects: all, keepProgress: false, ...overrides });
  }

  claim(overrides: Partial<SubjectClaim> = {}): Promise<ClaimedSubjects> {
    const request = { limit: 10, leaseMs: LEASE_MS, owner: "me", dueBy: null, fair: null };
    return this.statements.claim({ ...this.scope, ...request, ...overrides });
  }

  /** Returns the keys. */
  async claimKeys(overrides: Partial<SubjectClaim> = {}): Promise<string[]> {
    return (await this.claim(overrides)).subjects.map(({ subjectKey }) => subjectKey);
  }

  async claimOne(overrides: Partial<SubjectClaim> = {}): Promise<SubjectRecord> {
    const { subjects } = await this.claim(overrides);
    if (subjects.length !== 1) throw new Error(`Expected to claim one subject, got ${subjects.length}.`);
    return subjects[0] as SubjectRecord;
  }

  /** Creates a subject and claims it. */
  async start(subjectKey = "a", overrides: Partial<SubjectSync> = {}): Promise<SubjectRecord> {
    await this.sync([this.discovered(subjectKey, overrides)]);
    return this.claimOne();
  }

  changeOf(subject: SubjectRecord, kind: SubjectChangeKind, overrides: Partial<SubjectChange> = {}): SubjectChange {
    const { profile, dispatcherId, subjectKey, revision } = subject;
    const nothing = { cursor: null, meta: null, dueAt: null, delayMs: null, leaseMs: null, error: null };
    const changeId = `${profile}-change-${++this.#changes}`;
    return { profile, dispatcherId, subjectKey, revision, changeId, kind, ...nothing, ...overrides };
  }

  async change(
    subject: SubjectRecord,
    kind: SubjectChangeKind,
    overrides: Partial<SubjectChange> = {},
  ): Promise<SubjectChangeResult> {
    const [result] = await this.statements.change([this.changeOf(subject, kind, overrides)], { resent: false });
    return result as SubjectChangeResult;
  }

  /** Changes it, and gives what it became. */
  async changed(
    subject: SubjectRecord,
    kind: SubjectChangeKind,
    overrides: Partial<SubjectChange> = {},
  ): Promise<SubjectRecord> {
    const result = await this.change(subject, kind, overrides);
    if (result.result !== "changed") throw new Error(`Expected a change, got ${result.result}.`);
    return result.subject;
  }

  async get(subjectKey = "a"): Promise<SubjectRecord | null> {
    return (await this.statements.find([{ ...this.scope, subjectKey }]))[0] ?? null;
  }

  list(filter: Partial<SubjectFilter> = {}): Promise<SubjectRecord[]> {
    return this.statements.list({ ...this.scope, status: null, group: null, after: null, limit: 100, ...filter });
  }

  nextWake(): Promise<number | null> {
    return this.statements.nextWake(this.scope);
  }
}

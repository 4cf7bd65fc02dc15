import type { Sending } from "../group-commit.ts";
import type {
  ClaimedSubjects,
  SubjectChange,
  SubjectChangeResult,
  SubjectClaim,
  SubjectFilter,
  SubjectName,
  SubjectRecord,
  SubjectScope,
  SubjectVersion,
  SyncBatch,
  SyncCounts,
} from "./subject-records.ts";

/** The statements for subjects. Every change of a row increments its revision, except a renewal. */
export interface SubjectStatements {
  /**
   * Two statements: creates what is missing, and refreshes known subjects that aren't leased or running. Harmless when sent
   * again.
   */
  sync(batch: SyncBatch): Promise<SyncCounts>;

  /** Retires all but these and those with a lease that lasts. Returns the number. Harmless when sent again. */
  retire(scope: SubjectScope, subjectKeys: readonly string[]): Promise<number>;

  /** Takes what is due and what was left behind by an owner whose lease has run out. */
  claim(claim: SubjectClaim): Promise<ClaimedSubjects>;

  /** Each for itself. The results are in the order of the changes. */
  change(changes: readonly SubjectChange[], sending?: Sending): Promise<SubjectChangeResult[]>;

  /** Extends leases, each only at the revision of its owner. In the order of the subjects: whether it is still held. */
  renew(subjects: readonly SubjectVersion[], leaseMs: number): Promise<boolean[]>;

  /** Milliseconds until the earliest is due (zero or less: it is), or null if all are at rest. */
  nextWake(scope: SubjectScope): Promise<number | null>;

  /** The database's time. */
  time(): Promise<number>;

  /** In the order of the names; null where there is no such subject. */
  find(names: readonly SubjectName[]): Promise<(SubjectRecord | null)[]>;

  /** In the order of keys. */
  list(filter: SubjectFilter): Promise<SubjectRecord[]>;
}

import { decodeCursor, encodeCursor } from "../cursor.ts";
import { ConflictError, NotFoundError } from "../errors.ts";
import { checkText } from "../hooks/names.ts";
import { checkOptions } from "../options.ts";
import type { SubjectStatus } from "../store/subjects/subject-records.ts";
import { encodeError } from "../values/index.ts";
import { type RunOptions, type RunReport, runSubjectsOf } from "./run-subjects.ts";
import {
  type CheckpointOptions,
  type ClaimOptions,
  type CompleteOptions,
  checkDelay,
  checkFlag,
  checkLease,
  checkLimit,
  checkRevision,
  checkSubjectKey,
  checkTime,
  checkWhole,
  type FailOptions,
  invalid,
  type SubjectListOptions,
  type SubjectReference,
  type SyncOptions,
  type SyncReport,
} from "./subject-inputs.ts";
import type { SubjectLedger } from "./subject-ledger.ts";
import { type ListedSubject, type SubjectState, toListedSubject, toSubjectState } from "./subject-state.ts";
import { syncDiscovered } from "./sync-discovered.ts";

export interface SubjectPage<Cursor = unknown, Meta = unknown> {
  readonly subjects: readonly ListedSubject<Cursor, Meta>[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

const STATUSES: readonly unknown[] = ["idle", "failed", "leased", "running", "retired"] satisfies SubjectStatus[];
const REFERENCE = ["subjectKey", "revision"];
const PROGRESS = [...REFERENCE, "cursor", "meta"];

/**
 * Coordinates work over many subjects: stable partitions such as warehouses, tenants or accounts, each with a cursor, a lease,
 * a revision and a retry history of its own. Any number of processes may have a dispatcher of the same profile and id.
 */
export class SubjectDispatcher<Cursor = unknown, Meta = unknown> implements AsyncDisposable {
  readonly profile: string;
  readonly dispatcherId: string;
  readonly #ledger: SubjectLedger;
  readonly #close: () => Promise<void>;

  /** @internal */
  constructor(ledger: SubjectLedger, close: () => Promise<void> = async () => {}) {
    this.profile = ledger.scope.profile;
    this.dispatcherId = ledger.scope.dispatcherId;
    this.#ledger = ledger;
    this.#close = close;
  }

  /**
   * Creates subjects that are missing, and refreshes what is given of known ones that aren't leased or running. A subject whose
   * owner was lost is still running, so its progress stays. Fields that aren't given keep their values. Subjects that aren't
   * listed stay too, unless `retire` is set. One that rests becomes due.
   */
  async syncSubjects(options: SyncOptions<Cursor, Meta>): Promise<SyncReport> {
    checkInput(options, "syncSubjects", ["subjects", "retire", "keepProgress"]);
    if (!Array.isArray(options.subjects)) throw invalid("subjects must be an array");
    const [retire, keepProgress] = [
      checkFlag(options.retire, "retire"),
      checkFlag(options.keepProgress, "keepProgress"),
    ];
    const { created, refreshed, retired } = await syncDiscovered(this.#ledger, options.subjects, {
      retire,
      keepProgress,
    });
    return { created, refreshed, retired };
  }

  /** Claims due subjects that have no owner, or whose lease has run out: the oldest due first, group by group. */
  async claimDueSubjects(options: ClaimOptions): Promise<SubjectState<Cursor, Meta>[]> {
    checkInput(options, "claimDueSubjects", ["limit", "leaseMs"]);
    const claim = { limit: checkLimit(options.limit), leaseMs: checkLease(options.leaseMs) };
    return (await this.#ledger.claim(claim)).map((record) => toSubjectState<Cursor, Meta>(record));
  }

  /** Stores progress, marks the subject as running, and extends its lease if `leaseMs` is given. */
  async checkpointSubject(options: CheckpointOptions<Cursor, Meta>): Promise<SubjectState<Cursor, Meta>> {
    const reference = checkReference(options, "checkpointSubject", [...PROGRESS, "leaseMs"]);
    const { cursor, meta } = options;
    const leaseMs = options.leaseMs === undefined ? null : checkLease(options.leaseMs);
    return toSubjectState(await this.#ledger.change("checkpoint", reference, { cursor, meta, leaseMs }));
  }

  /** Records a success. Without `nextDueAt` the subject rests until it is discovered again. */
  async completeSubject(options: CompleteOptions<Cursor, Meta>): Promise<SubjectState<Cursor, Meta>> {
    const reference = checkReference(options, "completeSubject", [...PROGRESS, "nextDueAt"]);
    const { cursor, meta } = options;
    const dueAt = checkTime(options.nextDueAt, "nextDueAt");
    return toSubjectState(await this.#ledger.change("complete", reference, { cursor, meta, dueAt }));
  }

  /** Records a failure. It is due again at `nextDueAt`, after `retryAfterMs`, or by the retry schedule. */
  async failSubject(options: FailOptions<Cursor, Meta>): Promise<SubjectState<Cursor, Meta>> {
    const reference = checkReference(options, "failSubject", [...PROGRESS, "error", "nextDueAt", "retryAfterMs"]);
    const { cursor, meta, nextDueAt, retryAfterMs } = options;
    if (nextDueAt !== undefined && retryAfterMs !== undefined) {
      throw invalid("failSubject takes nextDueAt or retryAfterMs, not both");
    }
    const dueAt = checkTime(nextDueAt, "nextDueAt");
    const given = retryAfterMs === undefined ? null : checkDelay(retryAfterMs, "retryAfterMs");
    const delayMs = given ?? (dueAt === null ? await this.#ledger.retryDelay(reference) : null);
    const fields = { cursor, meta, dueAt, delayMs, error: encodeError(options.error) };
    return toSubjectState(await this.#ledger.change("fail", reference, fields));
  }

  /** Releases a subject: neither a success nor a failure, and due as before. */
  async releaseSubject(options: SubjectReference): Promise<SubjectState<Cursor, Meta>> {
    const reference = checkReference(options, "releaseSubject", REFERENCE);
    return toSubjectState(await this.#ledger.change("release", reference, {}));
  }

  /** Makes a subject due now, if it has no owner, or its owner's lease has run out. */
  async makeSubjectDue(subjectKey: string): Promise<void> {
    const subject = await this.getSubject(subjectKey);
    if (subject === null) throw new NotFoundError("subject.not_found", "There is no subject with this key.");
    if (subject.status === "retired") {
      const message = "The subject is retired: its dispatcher doesn't discover it any more.";
      throw new ConflictError("subject.retired", message);
    }
    const dueAt = await this.#ledger.time();
    await this.syncSubjects({ subjects: [{ subjectKey, nextDueAt: dueAt }] });
    const { leaseExpiresAt = null } = (await this.getSubject(subjectKey)) ?? {};
    if (leaseExpiresAt === null || leaseExpiresAt.getTime() <= dueAt) return;
    throw new ConflictError("subject.leased", "The subject is claimed: its owner is working on it.");
  }

  async getSubject(subjectKey: string): Promise<SubjectState<Cursor, Meta> | null> {
    const record = await this.#ledger.find(checkSubjectKey(subjectKey));
    return record === null ? null : toSubjectState(record);
  }

  /** One page in the order of keys. A cursor stays valid, however the subjects change between two pages. */
  async listSubjects(options: SubjectListOptions = {}): Promise<SubjectPage<Cursor, Meta>> {
    checkInput(options, "listSubjects", ["status", "group", "cursor", "limit"]);
    const { status, group, cursor } = options;
    if (status !== undefined && !STATUSES.includes(status)) {
      throw invalid(`status must be one of ${STATUSES.join(", ")}`);
    }
    const limit = checkWhole(options.limit ?? 50, "limit", 1, 1000);
    const records = await this.#ledger.list({
      status: status ?? null,
      group: group === undefined ? null : checkText(group, "A group"),
      after: cursor === undefined ? null : decodeCursor(cursor),
      limit: limit + 1,
    });
    const page = records.slice(0, limit);
    const last = page.at(-1);
    const nextCursor = records.length > limit && last !== undefined ? encodeCursor(last.subjectKey) : null;
    return { subjects: page.map((record) => toListedSubject<Cursor, Meta>(record)), nextCursor };
  }

  /**
   * Discovers, syncs, and handles everything that is due by now, each subject by itself: claimed in small batches, its lease
   * renewed, completed when the handler returns and failed when it throws. Resolves when all of it has ended.
   *
   * @example
   * await dispatcher.runSubjects({
   *   discover: () => warehouses.map(({ id }) => ({ subjectKey: `warehouse:${id}`, cursor: { page: 1 } })),
   *   handle: async ({ cursor }, { checkpoint }) => checkpoint({ page: await importPage(cursor) }),
   * });
   */
  runSubjects(options: RunOptions<Cursor, Meta>): Promise<RunReport> {
    return runSubjectsOf(this.#ledger, options);
  }

  /** Closes the database, if the dispatcher opened it. */
  close(): Promise<void> {
    return this.#close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function checkInput(options: unknown, label: string, fields: readonly string[]): void {
  checkOptions(options, { label, fields, code: "subject.invalid" });
}

function checkReference(options: SubjectReference, label: string, fields: readonly string[]): SubjectReference {
  checkInput(options, label, fields);
  return { subjectKey: checkSubjectKey(options.subjectKey), revision: checkRevision(options.revision) };
}

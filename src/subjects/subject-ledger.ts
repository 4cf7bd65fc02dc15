import { ConflictError, NotFoundError, type PerdureError, RevisionConflictError } from "../errors.ts";
import { retryDelay } from "../queue/retry-policy.ts";
import { applySchema, isThenable } from "../schema.ts";
import type { Store } from "../store/store.ts";
import type {
  ClaimedSubjects,
  FairShare,
  SubjectChange,
  SubjectChangeKind,
  SubjectFilter,
  SubjectRecord,
  SubjectScope,
  SubjectSync,
  SubjectVersion,
  SyncCounts,
} from "../store/subjects/subject-records.ts";
import { encodeError, encodeValue } from "../values/index.ts";
import type { ParsedSettings } from "./dispatcher-settings.ts";
import type { DiscoveredSubject, SubjectReference } from "./subject-inputs.ts";
import { type SubjectState, toSubjectState } from "./subject-state.ts";

interface LedgerOptions extends SubjectScope {
  readonly store: () => Promise<Store>;
  /** This process, as the owner of leases. */
  readonly owner: string;
  readonly settings: ParsedSettings;
}

/** The progress that a user gives. A field that is left out keeps its stored value. */
interface Progress {
  readonly cursor?: unknown;
  readonly meta?: unknown;
}

/** The same, ready to be stored. */
export type EncodedProgress = Pick<SubjectChange, "cursor" | "meta">;

/** The fields that a change writes in addition to its kind and the progress. */
export interface ChangeFields {
  readonly dueAt?: number | null;
  readonly delayMs?: number | null;
  readonly leaseMs?: number | null;
  /** Encoded. */
  readonly error?: string | null;
}

/** A row of a few megabytes is slow. */
const MOST_BYTES = 1024 * 1024;
const FOUND_AT_ONCE = 1000;

/** Where it is said that subjects of a dispatcher may be due. */
export function topicOf({ profile, dispatcherId }: SubjectScope): string {
  return `subjects~${profile}~${dispatcherId}`;
}

/** The subjects of one dispatcher in the database, with values as users have them. */
export class SubjectLedger {
  readonly scope: SubjectScope;
  readonly settings: ParsedSettings;
  readonly store: () => Promise<Store>;
  readonly owner: string;
  readonly #turns = new GroupTurns();

  constructor({ profile, dispatcherId, store, owner, settings }: LedgerOptions) {
    this.scope = { profile, dispatcherId };
    this.store = store;
    this.owner = owner;
    this.settings = settings;
  }

  /** The discovered subjects, checked and encoded. */
  async encodeDiscovered(subject: DiscoveredSubject, dueAt: number | null): Promise<SubjectSync> {
    const { subjectKey, group } = subject;
    if (typeof group === "string") this.#turns.notice(group);
    return {
      subjectKey,
      group: group === null ? "" : (group ?? null),
      ...(await this.encodeProgress(subjectKey, subject)),
      dueAt,
    };
  }

  /** Throws for what can't be stored, or doesn't pass its schema. */
  async encodeProgress(subjectKey: string, { cursor, meta }: Progress): Promise<EncodedProgress> {
    return {
      cursor: await this.#encode(cursor, "cursor", subjectKey),
      meta: await this.#encode(meta, "meta", subjectKey),
    };
  }

  async sync(subjects: readonly SubjectSync[], keepProgress: boolean): Promise<SyncCounts> {
    const store = await this.store();
    const counts = await store.subjects.sync({ ...this.scope, subjects, keepProgress });
    if (counts.created + counts.refreshed > 0) store.work.post({ namespace: topicOf(this.scope), delayMs: 0 });
    return counts;
  }

  async retire(subjectKeys: readonly string[]): Promise<number> {
    return (await this.store()).subjects.retire(this.scope, subjectKeys);
  }

  async claim(claim: { limit: number; leaseMs: number; dueBy?: number | null }): Promise<SubjectRecord[]> {
    const { limit, leaseMs, dueBy = null } = claim;
    const { statements } = (await this.store()).subjects;
    const fair = this.#turns.share(limit);
    const claimed = await statements.claim({ ...this.scope, limit, leaseMs, dueBy, owner: this.owner, fair });
    this.#turns.taken(claimed);
    const problems = claimed.subjects.map(unreadable);
    await Promise.all(claimed.subjects.map((subject, index) => this.#postpone(subject, problems[index] ?? null)));
    return claimed.subjects.filter((_, index) => problems[index] === null);
  }

  /** Writes what its owner says about a subject, or throws and writes nothing. */
  async change(
    kind: SubjectChangeKind,
    reference: SubjectReference,
    { cursor, meta, ...fields }: Progress & ChangeFields,
  ): Promise<SubjectRecord> {
    return this.write(kind, reference, {
      ...fields,
      ...(await this.encodeProgress(reference.subjectKey, { cursor, meta })),
    });
  }

  /** The same with progress that is encoded already. */
  async write(
    kind: SubjectChangeKind,
    reference: SubjectReference,
    fields: Partial<EncodedProgress> & ChangeFields,
  ): Promise<SubjectRecord> {
    const store = await this.store();
    const { subjectKey, revision } = reference;
    const change: SubjectChange = {
      ...this.scope,
      subjectKey,
      revision,
      changeId: store.createId(),
      kind,
      cursor: fields.cursor ?? null,
      meta: fields.meta ?? null,
      dueAt: fields.dueAt ?? null,
      delayMs: fields.delayMs ?? null,
      leaseMs: fields.leaseMs ?? null,
      error: fields.error ?? null,
    };
    const result = await store.subjects.change(change);
    if (result.result === "missing") throw this.#missing(subjectKey);
    if (result.result === "stale") throw this.#conflict(revision, result.subject);
    if (result.result === "inactive") throw notLeased(result.subject);
    if (kind !== "checkpoint") this.#tell(store, result.subject);
    return result.subject;
  }

  /** How long a subject waits after a failure, at this revision of it. */
  async retryDelay({ subjectKey, revision }: SubjectReference): Promise<number> {
    const record = await this.find(subjectKey);
    if (record === null) throw this.#missing(subjectKey);
    if (record.revision !== revision) throw this.#conflict(revision, record);
    return this.delayAfter(record.failures + 1);
  }

  /** How long to wait after this many failures in a row. */
  async delayAfter(failures: number): Promise<number> {
    return retryDelay(this.settings.retries, failures, (await this.store()).randomness);
  }

  async renew(references: readonly SubjectReference[], leaseMs: number): Promise<boolean[]> {
    const { statements } = (await this.store()).subjects;
    const versions: SubjectVersion[] = references.map(({ subjectKey, revision }) => ({
      ...this.scope,
      subjectKey,
      revision,
    }));
    return statements.renew(versions, leaseMs);
  }

  async nextWake(): Promise<number | null> {
    return (await this.store()).subjects.statements.nextWake(this.scope);
  }

  /** The database's time. */
  async time(): Promise<number> {
    return (await this.store()).subjects.statements.time();
  }

  async find(subjectKey: string): Promise<SubjectRecord | null> {
    return (await this.findAll([subjectKey]))[0] ?? null;
  }

  /** In the order of the keys; null where there is no such subject. */
  async findAll(subjectKeys: readonly string[]): Promise<(SubjectRecord | null)[]> {
    const { statements } = (await this.store()).subjects;
    const found: (SubjectRecord | null)[] = [];
    for (let start = 0; start < subjectKeys.length; start += FOUND_AT_ONCE) {
      const keys = subjectKeys.slice(start, start + FOUND_AT_ONCE);
      found.push(...(await statements.find(keys.map((subjectKey) => ({ ...this.scope, subjectKey })))));
    }
    return found;
  }

  async list(filter: Omit<SubjectFilter, keyof SubjectScope>): Promise<SubjectRecord[]> {
    return (await this.store()).subjects.statements.list({ ...this.scope, ...filter });
  }

  /** Null for what was left out, which keeps what is stored. */
  async #encode(value: unknown, field: "cursor" | "meta", subjectKey: string): Promise<string | null> {
    if (value === undefined) return null;
    const schema = this.settings[field];
    const options = { label: field, maxBytes: MOST_BYTES };
    const label = `The ${field} of the subject "${subjectKey}"`;
    const checked = applySchema(value === null ? null : schema, value, label, "subject.invalid");
    return encodeValue(isThenable(checked) ? await checked : checked, options);
  }

  /** A subject that can't be read isn't handed out: it fails, and comes again by the retry schedule. */
  async #postpone(subject: SubjectRecord, problem: PerdureError | null): Promise<void> {
    if (problem === null) return;
    const { dispatcherId, subjectKey } = subject;
    const { code, message } = problem;
    const details = { dispatcherId, subjectKey, code, message };
    (await this.store()).logger.warn("A subject can't be read at present; trying again later.", details);
    const fields = { delayMs: await this.delayAfter(subject.failures + 1), error: encodeError(problem) };
    await this.write("fail", subject, fields).catch(() => {}); // its lease runs out by itself
  }

  #tell(store: Store, { dueAt, updatedAt }: SubjectRecord): void {
    if (dueAt === null) return;
    store.work.post({ namespace: topicOf(this.scope), delayMs: Math.max(dueAt - updatedAt, 0) });
  }

  #conflict(given: number, record: SubjectRecord): RevisionConflictError<SubjectState> {
    const revisions = { given, current: record.revision };
    return new RevisionConflictError(record.subjectKey, revisions, toSubjectState(record));
  }

  #missing(subjectKey: string): NotFoundError {
    const { profile, dispatcherId } = this.scope;
    return new NotFoundError(
      "subject.not_found",
      `The dispatcher "${dispatcherId}" of the profile "${profile}" has no subject "${subjectKey}": sync it first.`,
    );
  }
}

/** Why the stored values of a subject can't be read: the codec can't, or a newer version has written them. */
function unreadable(record: SubjectRecord): PerdureError | null {
  try {
    toSubjectState(record);
    return null;
  } catch (problem) {
    return problem as PerdureError;
  }
}

function notLeased({ subjectKey, status }: SubjectRecord): ConflictError {
  return new ConflictError(
    "subject.not_leased",
    `The subject "${subjectKey}" is ${status}, and only its owner may change it: call claimDueSubjects first.`,
  );
}

/** How many groups one claim looks at. With more of them, it takes several claims to go round. */
const GROUPS_PER_CLAIM = 200;

/**
 * Half of the subjects of a claim come from the groups with due subjects in turn, the other half are the oldest of all. So a
 * flood in one group starves neither other groups nor subjects without a group, and a claim costs the same for any number of
 * subjects. Without groups, all are the oldest.
 */
class GroupTurns {
  #used = false;
  #after = "";
  /** Odd shares are rounded up and down in turn: with a limit of one, every second claim is for a group. */
  #roundUp = true;

  notice(group: string | null): void {
    if (group !== null && group !== "") this.#used = true;
  }

  share(limit: number): FairShare | null {
    if (!this.#used) return null;
    const half = this.#roundUp ? Math.ceil(limit / 2) : Math.floor(limit / 2);
    this.#roundUp = !this.#roundUp;
    return half === 0 ? null : { limit: half, after: this.#after, groups: GROUPS_PER_CLAIM };
  }

  taken({ subjects, lastGroup }: ClaimedSubjects): void {
    for (const { group } of subjects) this.notice(group);
    if (lastGroup !== null) this.#after = lastGroup;
  }
}

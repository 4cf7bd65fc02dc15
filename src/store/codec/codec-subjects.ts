import { isEncoded } from "../../values/encoded-text.ts";
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
  SubjectSync,
  SubjectVersion,
  SyncBatch,
  SyncCounts,
} from "../subjects/subject-records.ts";
import type { SubjectStatements } from "../subjects/subject-statements.ts";
import { locationOfSubject, type ValueLocation } from "./location.ts";
import type { ValueCodec } from "./value-codec.ts";

/** Subjects with their cursors, meta and errors encoded. */
export class CodecSubjectStatements implements SubjectStatements {
  readonly #inner: SubjectStatements;
  readonly #codec: ValueCodec;

  constructor(inner: SubjectStatements, codec: ValueCodec) {
    this.#inner = inner;
    this.#codec = codec;
  }

  /**
   * A sync leaves equal values alone, and a codec may encode the same value differently each time. So the stored text is read
   * first, and sent unchanged if its value is the same.
   */
  async sync(batch: SyncBatch): Promise<SyncCounts> {
    const { profile, dispatcherId } = batch;
    const given = batch.subjects.filter(({ cursor, meta }) => cursor !== null || meta !== null);
    const names = given.map(({ subjectKey }) => ({ profile, dispatcherId, subjectKey }));
    const found = names.length === 0 ? [] : await this.#inner.find(names);
    const known = new Map(found.map((record) => [record?.subjectKey, record]));
    const encode = async (subject: SubjectSync): Promise<SubjectSync> => {
      const name = { profile, dispatcherId, subjectKey: subject.subjectKey };
      const stored = known.get(subject.subjectKey) ?? null;
      return {
        ...subject,
        cursor: await this.#encodeIfNew(subject.cursor, stored?.cursor, locationOfSubject("cursor", name)),
        meta: await this.#encodeIfNew(subject.meta, stored?.meta, locationOfSubject("meta", name)),
      };
    };
    return this.#inner.sync({ ...batch, subjects: await Promise.all(batch.subjects.map(encode)) });
  }

  retire(scope: SubjectScope, subjectKeys: readonly string[]): Promise<number> {
    return this.#inner.retire(scope, subjectKeys);
  }

  async claim(claim: SubjectClaim): Promise<ClaimedSubjects> {
    const claimed = await this.#inner.claim(claim);
    return { ...claimed, subjects: await Promise.all(claimed.subjects.map((record) => this.#decode(record))) };
  }

  async change(changes: readonly SubjectChange[], sending?: Sending): Promise<SubjectChangeResult[]> {
    const encode = async (change: SubjectChange): Promise<SubjectChange> => ({
      ...change,
      cursor: await this.#codec.encodeOrNull(change.cursor, locationOfSubject("cursor", change)),
      meta: await this.#codec.encodeOrNull(change.meta, locationOfSubject("meta", change)),
      error: await this.#codec.encodeOrNull(change.error, locationOfSubject("error", change)),
    });
    const results = await this.#inner.change(await Promise.all(changes.map(encode)), sending);
    const decode = async (result: SubjectChangeResult): Promise<SubjectChangeResult> =>
      result.result === "missing" ? result : { ...result, subject: await this.#decode(result.subject) };
    return Promise.all(results.map(decode));
  }

  renew(subjects: readonly SubjectVersion[], leaseMs: number): Promise<boolean[]> {
    return this.#inner.renew(subjects, leaseMs);
  }

  nextWake(scope: SubjectScope): Promise<number | null> {
    return this.#inner.nextWake(scope);
  }

  time(): Promise<number> {
    return this.#inner.time();
  }

  async find(names: readonly SubjectName[]): Promise<(SubjectRecord | null)[]> {
    const found = await this.#inner.find(names);
    return Promise.all(found.map((record) => (record === null ? null : this.#decode(record))));
  }

  async list(filter: SubjectFilter): Promise<SubjectRecord[]> {
    const records = await this.#inner.list(filter);
    return Promise.all(records.map((record) => this.#decode(record)));
  }

  async #encodeIfNew(text: string | null, stored: string | undefined, location: ValueLocation): Promise<string | null> {
    if (text === null) return null;
    const same = stored !== undefined && isEncoded(stored) && (await this.#codec.decode(stored, location)) === text;
    return same ? stored : this.#codec.encode(text, location);
  }

  async #decode(record: SubjectRecord): Promise<SubjectRecord> {
    return {
      ...record,
      cursor: await this.#codec.decode(record.cursor, locationOfSubject("cursor", record)),
      meta: await this.#codec.decode(record.meta, locationOfSubject("meta", record)),
      error: await this.#codec.decodeOrNull(record.error, locationOfSubject("error", record)),
    };
  }
}

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
import { inOrderOfDue, toRefusal, toSubjectRecord } from "../subjects/subject-rows.ts";
import type { SubjectStatements } from "../subjects/subject-statements.ts";
import type { SqliteAccess, SqliteDriver, SqliteValue } from "./drivers/driver.ts";
import {
  CHANGE_SUBJECT,
  CLAIM_SUBJECT,
  FIND_DUE_IN_GROUP,
  FIND_DUE_SUBJECTS,
  GET_SUBJECT,
  INSERT_SUBJECT,
  LIST_SUBJECTS,
  NEXT_GROUP,
  NEXT_SUBJECT_WAKE,
  REFRESH_SUBJECT,
  RENEW_SUBJECT,
  RETIRE_SUBJECTS,
} from "./sql/subjects.ts";

type Row = Record<string, unknown>;

/** A batch is a loop of prepared statements in one transaction: without a network between, that is the fastest there is. */
export class SqliteSubjectStatements implements SubjectStatements {
  readonly #access: SqliteAccess;
  readonly #driver: SqliteDriver;

  constructor(access: SqliteAccess) {
    this.#access = access;
    this.#driver = access.driver;
  }

  async sync(batch: SyncBatch): Promise<SyncCounts> {
    if (batch.subjects.length === 0) return { created: 0, refreshed: 0 };
    return this.#access.write(() => {
      const now = this.#access.now();
      let [created, refreshed] = [0, 0];
      for (const subject of batch.subjects) {
        if (this.#driver.run(INSERT_SUBJECT, syncValues(batch, subject, now)) > 0) created++;
        else refreshed += this.#driver.run(REFRESH_SUBJECT, refreshValues(batch, subject, now));
      }
      return { created, refreshed };
    });
  }

  async retire({ profile, dispatcherId }: SubjectScope, subjectKeys: readonly string[]): Promise<number> {
    return this.#access.write(() => {
      const parameters = [profile, dispatcherId, this.#access.now(), JSON.stringify(subjectKeys)];
      return this.#driver.run(RETIRE_SUBJECTS, parameters);
    });
  }

  async claim(claim: SubjectClaim): Promise<ClaimedSubjects> {
    const { profile, dispatcherId, limit } = claim;
    if (limit <= 0) return { subjects: [], lastGroup: null };
    // Looking first keeps idle claimers from taking the write lock.
    const due = await this.#access.read(() => this.#findOldest(claim, 1, []));
    if (due.length === 0) return { subjects: [], lastGroup: null };
    return this.#access.write(() => {
      const now = this.#access.now();
      const { found, lastGroup } = findInTurns(this.#driver, claim, this.#dueBy(claim));
      const keys = found.map((row) => row.subject_key as string);
      found.push(...this.#findOldest(claim, limit - found.length, keys));
      const rows = found.flatMap(({ subject_key, available_at }) => {
        const parameters = [claim.owner, now + claim.leaseMs, now, now, profile, dispatcherId, subject_key as string];
        const claimed = this.#driver.all(CLAIM_SUBJECT, parameters);
        return claimed.map((row) => ({ ...row, claimed_due_at: available_at }));
      });
      return { subjects: inOrderOfDue(rows).map(toSubjectRecord), lastGroup };
    });
  }

  async change(changes: readonly SubjectChange[], sending?: Sending): Promise<SubjectChangeResult[]> {
    if (changes.length === 0) return [];
    return this.#access.write(() => {
      const now = this.#access.now();
      return changes.map((change): SubjectChangeResult => {
        const [row] = this.#driver.all(CHANGE_SUBJECT, changeValues(change, now));
        if (row !== undefined) return { result: "changed", subject: toSubjectRecord(row) };
        return toRefusal(change, this.#get(change), sending?.resent ?? true);
      });
    });
  }

  async renew(subjects: readonly SubjectVersion[], leaseMs: number): Promise<boolean[]> {
    if (subjects.length === 0) return [];
    return this.#access.write(() => {
      const until = this.#access.now() + leaseMs;
      return subjects.map(
        (subject) => this.#driver.run(RENEW_SUBJECT, [until, ...keyOf(subject), subject.revision]) > 0,
      );
    });
  }

  async nextWake({ profile, dispatcherId }: SubjectScope): Promise<number | null> {
    return this.#access.read(() => {
      const [row] = this.#driver.all(NEXT_SUBJECT_WAKE, [profile, dispatcherId]);
      return row === undefined ? null : Number(row.available_at) - this.#access.now();
    });
  }

  async time(): Promise<number> {
    return this.#access.now();
  }

  async find(names: readonly SubjectName[]): Promise<(SubjectRecord | null)[]> {
    if (names.length === 0) return [];
    return this.#access.read(() =>
      names.map((name) => {
        const row = this.#get(name);
        return row === undefined ? null : toSubjectRecord(row);
      }),
    );
  }

  async list({ profile, dispatcherId, status, group, after, limit }: SubjectFilter): Promise<SubjectRecord[]> {
    const parameters = [profile, dispatcherId, after ?? "", status, group, limit];
    const rows = await this.#access.read(() => this.#driver.all(LIST_SUBJECTS, parameters));
    return rows.map(toSubjectRecord);
  }

  #findOldest(claim: SubjectClaim, limit: number, without: readonly string[]): Row[] {
    if (limit <= 0) return [];
    const { profile, dispatcherId } = claim;
    const parameters = [profile, dispatcherId, this.#dueBy(claim), JSON.stringify(without), limit];
    return this.#driver.all(FIND_DUE_SUBJECTS, parameters);
  }

  #dueBy({ dueBy }: SubjectClaim): number {
    return Math.min(this.#access.now(), dueBy ?? Number.POSITIVE_INFINITY);
  }

  #get(name: SubjectName): Row | undefined {
    return this.#driver.all(GET_SUBJECT, keyOf(name))[0];
  }
}

function keyOf({ profile, dispatcherId, subjectKey }: SubjectName): SqliteValue[] {
  return [profile, dispatcherId, subjectKey];
}

function syncValues({ profile, dispatcherId }: SyncBatch, subject: SubjectSync, now: number): SqliteValue[] {
  const { subjectKey, group, cursor, meta, dueAt } = subject;
  return [profile, dispatcherId, subjectKey, group, cursor, meta, dueAt, now];
}

function refreshValues(batch: SyncBatch, subject: SubjectSync, now: number): SqliteValue[] {
  return [...syncValues(batch, subject, now), batch.keepProgress ? 1 : 0];
}

function changeValues(change: SubjectChange, now: number): SqliteValue[] {
  const { revision, cursor, meta, dueAt, delayMs, leaseMs, error, changeId, kind } = change;
  const nextDueAt = dueAt ?? (delayMs === null ? null : now + delayMs);
  const leaseEnd = leaseMs === null ? null : now + leaseMs;
  return [...keyOf(change), revision, now, cursor, meta, nextDueAt, leaseEnd, error, changeId, kind];
}

/** Goes round the groups that have something due, from where the last claim ended, and takes from each the same number. */
function findInTurns(
  driver: SqliteDriver,
  claim: SubjectClaim,
  dueBy: number,
): { found: Row[]; lastGroup: string | null } {
  const { fair } = claim;
  if (fair === null || fair.limit <= 0) return { found: [], lastGroup: null };
  const { profile, dispatcherId } = claim;
  const dueIn = (group: string, limit: number) =>
    driver.all(FIND_DUE_IN_GROUP, [profile, dispatcherId, group, dueBy, limit]);
  const seen = walk(driver, claim);
  const groups = seen.filter((group) => dueIn(group, 1).length > 0).slice(0, fair.limit);
  const share = Math.floor(fair.limit / groups.length);
  const found = groups.flatMap((group, turn) => dueIn(group, share + (turn < fair.limit % groups.length ? 1 : 0)));
  return { found, lastGroup: groups.at(-1) ?? seen.at(-1) ?? null };
}

/** The next groups, and after the last one those from the beginning. */
function walk(driver: SqliteDriver, { profile, dispatcherId, fair }: SubjectClaim): string[] {
  const next = (after: string) => driver.all(NEXT_GROUP, [profile, dispatcherId, after])[0]?.group_key as string;
  const seen: string[] = [];
  for (let group = next(fair?.after ?? "") ?? next(""); group !== undefined && group !== seen[0]; ) {
    seen.push(group);
    if (seen.length === fair?.groups) break;
    group = next(group) ?? next("");
  }
  return seen;
}

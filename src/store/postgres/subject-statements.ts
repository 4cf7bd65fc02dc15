import type { Clock } from "../../clock.ts";
import type { Sending } from "../group-commit.ts";
import { toNumber, toNumberOrNull } from "../rows.ts";
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
import { compareText } from "../text-order.ts";
import { integerArray, textArray } from "./array-literals.ts";
import type { Connection } from "./connection/connection.ts";
import { askDedicated, type DedicatedConnection } from "./connection/dedicated-connection.ts";
import { bySubject } from "./instances/locking-order.ts";
import type { SchemaPrefix } from "./sql/statement.ts";
import { readTime } from "./sql/statement.ts";
import { claimSubjects, claimSubjectsInTurns, nextSubjectWake, renewSubjects } from "./sql/subject-claims.ts";
import {
  changeSubjects,
  findSubjects,
  insertSubjects,
  listSubjects,
  refreshSubjects,
  retireSubjects,
} from "./sql/subjects.ts";
import { PostgresStatements } from "./statements.ts";

type Row = Record<string, unknown>;

export class PostgresSubjectStatements extends PostgresStatements implements SubjectStatements {
  readonly #dedicated: DedicatedConnection;

  constructor(connection: Connection, clock: Clock, schema: SchemaPrefix, dedicated: DedicatedConnection) {
    super(connection, clock, schema);
    this.#dedicated = dedicated;
  }

  async sync({ profile, dispatcherId, subjects, keepProgress }: SyncBatch): Promise<SyncCounts> {
    if (subjects.length === 0) return { created: 0, refreshed: 0 };
    const sorted = [...subjects].sort((left, right) => compareText(left.subjectKey, right.subjectKey));
    const values = [this.now(), profile, dispatcherId, ...syncColumns(sorted)];
    const inserted = await this.run(insertSubjects, values);
    const created = inserted.rowCount ?? 0;
    if (created === subjects.length) return { created, refreshed: 0 };
    const refreshed = await this.run(refreshSubjects, [...values, keepProgress]);
    return { created, refreshed: refreshed.rowCount ?? 0 };
  }

  async retire({ profile, dispatcherId }: SubjectScope, subjectKeys: readonly string[]): Promise<number> {
    const values = [this.now(), profile, dispatcherId, textArray(subjectKeys)];
    return (await this.run(retireSubjects, values)).rowCount ?? 0;
  }

  async claim(claim: SubjectClaim): Promise<ClaimedSubjects> {
    const { profile, dispatcherId, owner, leaseMs, dueBy, limit, fair } = claim;
    if (limit <= 0) return { subjects: [], lastGroup: null };
    const values = [this.now(), profile, dispatcherId, owner, leaseMs, dueBy, limit];
    const { rows } =
      fair === null || fair.limit <= 0
        ? await this.run(claimSubjects, values)
        : await this.run(claimSubjectsInTurns, [...values, fair.limit, fair.after, fair.groups]);
    const lastGroup = (rows[0]?.last_group as string | null | undefined) ?? null;
    return { subjects: inOrderOfDue(rows).map(toSubjectRecord), lastGroup };
  }

  async change(
    changes: readonly SubjectChange[],
    { resent = true }: Partial<Sending> = {},
  ): Promise<SubjectChangeResult[]> {
    if (changes.length === 0) return [];
    const sorted = [...changes].sort(bySubject);
    const { rows } = await this.run(changeSubjects, [this.now(), ...subjectChangeColumns(sorted)]);
    const changed = new Map(rows.map((row) => [sorted[toNumber(row.index) - 1], toSubjectRecord(row)]));
    const refused = changes.filter((change) => !changed.has(change));
    const found = await this.#find(refused);
    return changes.map((change) => {
      const subject = changed.get(change);
      if (subject !== undefined) return { result: "changed", subject };
      return toRefusal(change, found.get(change), resent);
    });
  }

  async renew(subjects: readonly SubjectVersion[], leaseMs: number): Promise<boolean[]> {
    if (subjects.length === 0) return [];
    const sorted = [...subjects].sort(bySubject);
    const values = [this.now(), leaseMs, ...subjectVersionColumns(sorted)];
    const { rows } = await askDedicated(this.#dedicated, (on) => this.run(renewSubjects, values, on));
    const held = new Set(rows.map((row) => sorted[toNumber(row.index) - 1]));
    return subjects.map((subject) => held.has(subject));
  }

  async nextWake({ profile, dispatcherId }: SubjectScope): Promise<number | null> {
    const { rows } = await this.run(nextSubjectWake, [this.now(), profile, dispatcherId]);
    return toNumberOrNull(rows[0]?.remaining ?? null);
  }

  async time(): Promise<number> {
    const { rows } = await this.run(readTime, [this.now()]);
    return toNumber(rows[0]?.now);
  }

  async find(names: readonly SubjectName[]): Promise<(SubjectRecord | null)[]> {
    const found = await this.#find(names);
    return names.map((name) => {
      const row = found.get(name);
      return row === undefined ? null : toSubjectRecord(row);
    });
  }

  async list({ profile, dispatcherId, status, group, after, limit }: SubjectFilter): Promise<SubjectRecord[]> {
    const { rows } = await this.run(listSubjects, [profile, dispatcherId, after ?? "", status, group, limit]);
    return rows.map(toSubjectRecord);
  }

  async #find<Name extends SubjectName>(names: readonly Name[]): Promise<Map<Name, Row>> {
    if (names.length === 0) return new Map();
    const { rows } = await this.run(findSubjects, subjectNameColumns(names));
    return new Map(rows.map((row) => [names[toNumber(row.index) - 1] as Name, row]));
  }
}

/** Rows as columns: a batch is given to PostgreSQL as one array for each column. */
function subjectNameColumns(names: readonly SubjectName[]): unknown[] {
  return [
    textArray(names.map(({ profile }) => profile)),
    textArray(names.map(({ dispatcherId }) => dispatcherId)),
    textArray(names.map(({ subjectKey }) => subjectKey)),
  ];
}

function subjectVersionColumns(versions: readonly SubjectVersion[]): unknown[] {
  return [...subjectNameColumns(versions), integerArray(versions.map(({ revision }) => revision))];
}

function syncColumns(subjects: readonly SubjectSync[]): unknown[] {
  return [
    textArray(subjects.map(({ subjectKey }) => subjectKey)),
    textArray(subjects.map(({ group }) => group)),
    textArray(subjects.map(({ cursor }) => cursor)),
    textArray(subjects.map(({ meta }) => meta)),
    integerArray(subjects.map(({ dueAt }) => dueAt)),
  ];
}

function subjectChangeColumns(changes: readonly SubjectChange[]): unknown[] {
  return [
    ...subjectVersionColumns(changes),
    textArray(changes.map(({ changeId }) => changeId)),
    textArray(changes.map(({ kind }) => kind)),
    textArray(changes.map(({ cursor }) => cursor)),
    textArray(changes.map(({ meta }) => meta)),
    integerArray(changes.map(({ dueAt }) => dueAt)),
    integerArray(changes.map(({ delayMs }) => delayMs)),
    integerArray(changes.map(({ leaseMs }) => leaseMs)),
    textArray(changes.map(({ error }) => error)),
  ];
}

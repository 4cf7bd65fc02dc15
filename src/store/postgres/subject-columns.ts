import type { SubjectChange, SubjectName, SubjectSync, SubjectVersion } from "../subjects/subject-records.ts";
import { compareText } from "../text-order.ts";
import { integerArray, textArray } from "./array-literals.ts";

/** Rows as columns: a batch is given to PostgreSQL as one array for each column. */
export function subjectNameColumns(names: readonly SubjectName[]): unknown[] {
  return [
    textArray(names.map(({ profile }) => profile)),
    textArray(names.map(({ dispatcherId }) => dispatcherId)),
    textArray(names.map(({ subjectKey }) => subjectKey)),
  ];
}

export function subjectVersionColumns(versions: readonly SubjectVersion[]): unknown[] {
  return [...subjectNameColumns(versions), integerArray(versions.map(({ revision }) => revision))];
}

export function syncColumns(subjects: readonly SubjectSync[]): unknown[] {
  return [
    textArray(subjects.map(({ subjectKey }) => subjectKey)),
    textArray(subjects.map(({ group }) => group)),
    textArray(subjects.map(({ cursor }) => cursor)),
    textArray(subjects.map(({ meta }) => meta)),
    integerArray(subjects.map(({ dueAt }) => dueAt)),
  ];
}

export function subjectChangeColumns(changes: readonly SubjectChange[]): unknown[] {
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

/** The same order for everybody who locks several subjects: no two of them can wait for each other. */
export function bySubject(left: SubjectName, right: SubjectName): number {
  return (
    compareText(left.profile, right.profile) ||
    compareText(left.dispatcherId, right.dispatcherId) ||
    compareText(left.subjectKey, right.subjectKey)
  );
}

import { toNumber, toNumberOrNull } from "../rows.ts";
import type { SubjectChange, SubjectChangeResult, SubjectRecord, SubjectStatus } from "./subject-records.ts";

type Row = Record<string, unknown>;

export function toSubjectRecord(row: Row): SubjectRecord {
  const leaseOwner = row.lease_owner as string | null;
  return {
    profile: row.profile as string,
    dispatcherId: row.dispatcher_id as string,
    subjectKey: row.subject_key as string,
    group: row.group_key as string | null,
    status: row.status as SubjectStatus,
    revision: toNumber(row.revision),
    cursor: row.cursor as string,
    meta: row.meta as string,
    dueAt: toNumberOrNull(row.due_at),
    leaseOwner,
    leaseExpiresAt: leaseOwner === null ? null : toNumberOrNull(row.available_at),
    attempts: toNumber(row.attempts),
    failures: toNumber(row.failures),
    timeouts: toNumber(row.timeouts),
    error: row.error as string | null,
    lastStartedAt: toNumberOrNull(row.last_started_at),
    lastSuccessAt: toNumberOrNull(row.last_success_at),
    lastFailureAt: toNumberOrNull(row.last_failure_at),
    createdAt: toNumber(row.created_at),
    updatedAt: toNumber(row.updated_at),
  };
}

/**
 * The result of a change that didn't find its row as expected. A change that was applied before, and whose reply was lost, has
 * left its id in the row: its sender gets the revision that the change made, not a later one.
 */
export function toRefusal(change: SubjectChange, row: Row | undefined, resent: boolean): SubjectChangeResult {
  if (row === undefined) return { result: "missing" };
  const subject = toSubjectRecord(row);
  if (resent && row.last_change === change.changeId) {
    return { result: "changed", subject: { ...subject, revision: change.revision + 1 } };
  }
  return { result: subject.revision === change.revision ? "inactive" : "stale", subject };
}

/** Oldest first, and by key where they were due at the same time. */
export function inOrderOfDue(rows: readonly Row[]): Row[] {
  return [...rows].sort(
    (left, right) =>
      Number(left.claimed_due_at) - Number(right.claimed_due_at) ||
      ((left.subject_key as string) < (right.subject_key as string) ? -1 : 1),
  );
}

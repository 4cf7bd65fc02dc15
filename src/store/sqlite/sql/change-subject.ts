import type { SubjectChangeKind } from "../../subject-records.ts";
import { RECORD } from "./subject-record.ts";

/** What each kind writes, besides what all of them do. ?5 is the time, ?8 when it is due next, ?9 the end of the lease, ?10 the error. */
const CHANGES: Record<SubjectChangeKind, string> = {
  checkpoint: "status = 'running', available_at = coalesce(?9, available_at)",
  complete: `status = 'idle', due_at = ?8, available_at = ?8, lease_owner = null,
  attempts = 0, failures = 0, error = null, last_success_at = ?5`,
  fail: `status = 'failed', due_at = ?8, available_at = ?8, lease_owner = null,
  failures = failures + 1, error = ?10, last_failure_at = ?5`,
  release: `status = case when failures > 0 then 'failed' else 'idle' end, available_at = due_at, lease_owner = null,
  attempts = attempts - 1`,
};

/** Only at the revision that its owner knows, and only if somebody has claimed it. Index: the primary key. */
export function changeSubject(kind: SubjectChangeKind): string {
  return `
update perdure_subject set
  ${CHANGES[kind]},
  cursor = coalesce(?6, cursor), meta = coalesce(?7, meta),
  revision = revision + 1, last_change = ?11, updated_at = ?5
where profile = ?1 and dispatcher_id = ?2 and subject_key = ?3 and revision = ?4 and lease_owner is not null
returning ${RECORD}`;
}

export const RECORD = `profile, dispatcher_id, subject_key, group_key, status, revision, cursor, meta, due_at, available_at, lease_owner,
  attempts, failures, error, last_success_at, last_failure_at, last_started_at, timeouts, last_change, created_at, updated_at`;

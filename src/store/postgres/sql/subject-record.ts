export const RECORD = `subject.profile, subject.dispatcher_id, subject.subject_key, subject.group_key, subject.status, subject.revision,
  subject.cursor::text as cursor, subject.meta::text as meta, subject.due_at, subject.available_at, subject.lease_owner,
  subject.attempts, subject.failures, subject.error::text as error, subject.last_success_at, subject.last_failure_at,
  subject.last_started_at,
  subject.timeouts, subject.last_change, subject.created_at, subject.updated_at`;

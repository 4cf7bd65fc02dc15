import { RECORD } from "./subject-record.ts";

/**
 * What its owner writes: only at the revision that it knows, and only if somebody has claimed it. ?5 is the time, ?8 when it is
 * due next, ?9 the end of the lease, ?10 the error, ?12 the kind of change. Index: the primary key.
 */
export const CHANGE_SUBJECT = `
update perdure_subject set
  status = case ?12 when 'checkpoint' then 'running' when 'complete' then 'idle' when 'fail' then 'failed'
    else case when failures > 0 then 'failed' else 'idle' end end,
  due_at = case when ?12 in ('complete', 'fail') then ?8 else due_at end,
  available_at = case ?12 when 'checkpoint' then coalesce(?9, available_at) when 'release' then due_at else ?8 end,
  lease_owner = case ?12 when 'checkpoint' then lease_owner end,
  attempts = case ?12 when 'complete' then 0 when 'release' then attempts - 1 else attempts end,
  failures = case ?12 when 'complete' then 0 when 'fail' then failures + 1 else failures end,
  timeouts = case when ?12 in ('complete', 'fail') then 0 else timeouts end,
  error = case ?12 when 'complete' then null when 'fail' then ?10 else error end,
  last_success_at = case ?12 when 'complete' then ?5 else last_success_at end,
  last_failure_at = case ?12 when 'fail' then ?5 else last_failure_at end,
  cursor = coalesce(?6, cursor),
  meta = coalesce(?7, meta),
  revision = revision + 1,
  last_change = ?11,
  updated_at = ?5
where profile = ?1 and dispatcher_id = ?2 and subject_key = ?3 and revision = ?4 and lease_owner is not null
returning ${RECORD}`;

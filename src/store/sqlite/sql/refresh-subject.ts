/** Whether the due time is to be taken over: it isn't kept, or there is none. */
const NEW_DUE_AT =
  "case when ?7 is not null and (not ?9 or due_at is null) then ?7 when due_at is null then ?8 else due_at end";

/**
 * A known subject that isn't leased or running: fields that were given, and a due time if it rests. One whose lease has run out
 * is still running: its next owner resumes it where the last one stopped. Only if something differs, so that a caller that holds
 * its revision isn't disturbed for nothing. ?9 is whether cursor and due time are kept. Index: the primary key.
 */
export const REFRESH_SUBJECT = `
update perdure_subject set
  group_key = case when ?4 is null then group_key else nullif(?4, '') end,
  cursor = case when ?5 is null or ?9 then cursor else ?5 end,
  meta = coalesce(?6, meta),
  due_at = ${NEW_DUE_AT},
  available_at = ${NEW_DUE_AT},
  status = case when failures > 0 then 'failed' else 'idle' end,
  revision = revision + 1,
  updated_at = ?8
where profile = ?1 and dispatcher_id = ?2 and subject_key = ?3
  and lease_owner is null
  and (
    due_at is not ${NEW_DUE_AT}
    or ?4 is not null and group_key is not nullif(?4, '')
    or ?5 is not null and not ?9 and cursor <> ?5
    or ?6 is not null and meta <> ?6
  )`;

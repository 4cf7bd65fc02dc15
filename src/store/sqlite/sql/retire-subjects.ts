/**
 * All that aren't listed, except those with a lease that lasts. Their cursors stay. The comparison of keys is always true: without it
 * SQLite reads the whole table if one dispatcher has most of it. Index: the primary key, the whole of one dispatcher.
 */
export const RETIRE_SUBJECTS = `
update perdure_subject set
  status = 'retired', due_at = null, available_at = null, lease_owner = null, revision = revision + 1, updated_at = ?3
where profile = ?1 and dispatcher_id = ?2 and subject_key >= ''
  and status <> 'retired'
  and (lease_owner is null or available_at <= ?3)
  and subject_key not in (select value from json_each(?4))`;

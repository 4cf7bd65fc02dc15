export const SUBJECT_RECORD = `profile, dispatcher_id, subject_key, group_key, status, revision, cursor, meta, due_at, available_at, lease_owner,
  attempts, failures, error, last_success_at, last_failure_at, last_started_at, timeouts, last_change, created_at, updated_at`;

/** A known one is left alone. Due at once, unless it says when. Index: the primary key. */
export const INSERT_SUBJECT = `
insert into perdure_subject (profile, dispatcher_id, subject_key, group_key, cursor, meta, due_at, available_at, created_at, updated_at)
values (?1, ?2, ?3, nullif(?4, ''), coalesce(?5, 'null'), coalesce(?6, 'null'), coalesce(?7, ?8), coalesce(?7, ?8), ?8, ?8)
on conflict do nothing`;

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

/** The oldest that are due, but for those that were found already. Index: perdure_subject_due; what rests is never read. */
export const FIND_DUE_SUBJECTS = `
select subject_key, available_at from perdure_subject
where profile = ? and dispatcher_id = ? and available_at <= ? and subject_key not in (select value from json_each(?))
order by available_at, subject_key
limit ?`;

/** The group that comes after another one. However many subjects it has, one entry is read. Index: perdure_subject_group_due. */
export const NEXT_GROUP = `
select group_key from perdure_subject
where profile = ? and dispatcher_id = ? and group_key > ? and available_at is not null
order by group_key
limit 1`;

/** The oldest of one group that are due. Index: perdure_subject_group_due. */
export const FIND_DUE_IN_GROUP = `
select subject_key, available_at from perdure_subject
where profile = ? and dispatcher_id = ? and group_key = ? and available_at <= ?
order by available_at, subject_key
limit ?`;

/** Index: the primary key. */
export const CLAIM_SUBJECT = `
update perdure_subject set
  status = 'leased', lease_owner = ?, available_at = ?, attempts = attempts + 1,
  timeouts = timeouts + case when lease_owner is null then 0 else 1 end, last_started_at = ?, revision = revision + 1, updated_at = ?
where profile = ? and dispatcher_id = ? and subject_key = ?
returning ${SUBJECT_RECORD}`;

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
returning ${SUBJECT_RECORD}`;

/** Extends a lease, at the revision of its owner only. Index: the primary key. */
export const RENEW_SUBJECT = `
update perdure_subject set available_at = ?
where profile = ? and dispatcher_id = ? and subject_key = ? and revision = ? and lease_owner is not null`;

/** All that somebody has are due at once: for an object that starts, and was the only one to have them. Index: perdure_subject_due. */
export const FREE_SUBJECTS = `
update perdure_subject set available_at = min(available_at, ?1) where lease_owner is not null and available_at is not null`;

/** When the earliest is due. Index: perdure_subject_due gives the first entry. */
export const NEXT_SUBJECT_WAKE = `
select available_at from perdure_subject
where profile = ? and dispatcher_id = ? and available_at is not null
order by available_at
limit 1`;

/** Index: the primary key. */
export const GET_SUBJECT = `select ${SUBJECT_RECORD} from perdure_subject where profile = ? and dispatcher_id = ? and subject_key = ?`;

/** One page in the order of keys. Index: the primary key, which the other filters don't narrow down. */
export const LIST_SUBJECTS = `
select ${SUBJECT_RECORD} from perdure_subject
where profile = ?1 and dispatcher_id = ?2
  and subject_key > ?3
  and (?4 is null or status = ?4)
  and (?5 is null or group_key = ?5)
order by subject_key
limit ?6`;

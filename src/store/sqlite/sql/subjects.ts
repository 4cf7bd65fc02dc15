const SUBJECT_RECORD = `profile, dispatcher_id, subject_key, group_key, status, revision, cursor, meta, due_at, available_at, lease_owner,
  attempts, failures, error, last_success_at, last_failure_at, last_started_at, timeouts, last_change, created_at, updated_at`;

/** Creates a subject that is due now, or when given. Writes nothing if it exists. Index: the primary key. */
export const INSERT_SUBJECT = `
insert into perdure_subject (profile, dispatcher_id, subject_key, group_key, cursor, meta, due_at, available_at, created_at, updated_at)
values (?1, ?2, ?3, nullif(?4, ''), coalesce(?5, 'null'), coalesce(?6, 'null'), coalesce(?7, ?8), coalesce(?7, ?8), ?8, ?8)
on conflict do nothing`;

/** The due time after a sync: the given one, unless due times are kept and the subject has one. */
const NEW_DUE_AT =
  "case when ?7 is not null and (not ?9 or due_at is null) then ?7 when due_at is null then ?8 else due_at end";

/**
 * Updates the given fields of a subject that has no owner, and makes it due if it rests. A subject whose lease has expired
 * still has an owner: the next one resumes it from its cursor. Writes only if something differs, so that the revision that a
 * caller holds stays valid. ?9 tells whether cursor and due time are kept. Index: the primary key.
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
 * Retires all subjects that aren't listed, except those with a lease that hasn't expired. Cursors are kept. The comparison of
 * keys is always true: without it, SQLite scans the whole table if one dispatcher has most of it. Index: the primary key, all
 * of one dispatcher.
 */
export const RETIRE_SUBJECTS = `
update perdure_subject set
  status = 'retired', due_at = null, available_at = null, lease_owner = null, revision = revision + 1, updated_at = ?3
where profile = ?1 and dispatcher_id = ?2 and subject_key >= ''
  and status <> 'retired'
  and (lease_owner is null or available_at <= ?3)
  and subject_key not in (select value from json_each(?4))`;

/** The oldest due subjects, except those already found. Index: perdure_subject_due; subjects that aren't due are never read. */
export const FIND_DUE_SUBJECTS = `
select subject_key, available_at from perdure_subject
where profile = ? and dispatcher_id = ? and available_at <= ? and subject_key not in (select value from json_each(?))
order by available_at, subject_key
limit ?`;

/** The next group in order. Reads one entry, however many subjects the group has. Index: perdure_subject_group_due. */
export const NEXT_GROUP = `
select group_key from perdure_subject
where profile = ? and dispatcher_id = ? and group_key > ? and available_at is not null
order by group_key
limit 1`;

/** The oldest due subjects of one group. Index: perdure_subject_group_due. */
export const FIND_DUE_IN_GROUP = `
select subject_key, available_at from perdure_subject
where profile = ? and dispatcher_id = ? and group_key = ? and available_at <= ?
order by available_at, subject_key
limit ?`;

/** Claims a subject that was found due. Index: the primary key. */
export const CLAIM_SUBJECT = `
update perdure_subject set
  status = 'leased', lease_owner = ?, available_at = ?, attempts = attempts + 1,
  timeouts = timeouts + case when lease_owner is null then 0 else 1 end, last_started_at = ?, revision = revision + 1, updated_at = ?
where profile = ? and dispatcher_id = ? and subject_key = ?
returning ${SUBJECT_RECORD}`;

/**
 * An owner's change, accepted only at the revision that it is based on, and only if the subject has an owner. ?5 is the time,
 * ?8 the next due time, ?9 the end of the lease, ?10 the error, ?12 the kind of change. Index: the primary key.
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

/** Extends a lease, only at the owner's revision. Index: the primary key. */
export const RENEW_SUBJECT = `
update perdure_subject set available_at = ?
where profile = ? and dispatcher_id = ? and subject_key = ? and revision = ? and lease_owner is not null`;

/** Expires all leases, when a Durable Object starts: no other process can hold one. Reads every subject. Index: none. */
export const FREE_SUBJECTS = `
update perdure_subject not indexed set available_at = min(available_at, ?1)
where lease_owner is not null and available_at is not null`;

/** When the first subject is due. Index: perdure_subject_due, its first entry. */
export const NEXT_SUBJECT_WAKE = `
select available_at from perdure_subject
where profile = ? and dispatcher_id = ? and available_at is not null
order by available_at
limit 1`;

/** One subject. Index: the primary key. */
export const GET_SUBJECT = `select ${SUBJECT_RECORD} from perdure_subject where profile = ? and dispatcher_id = ? and subject_key = ?`;

/** One page of subjects in the order of their keys. The other filters are applied to the rows read. Index: the primary key. */
export const LIST_SUBJECTS = `
select ${SUBJECT_RECORD} from perdure_subject
where profile = ?1 and dispatcher_id = ?2
  and subject_key > ?3
  and (?4 is null or status = ?4)
  and (?5 is null or group_key = ?5)
order by subject_key
limit ?6`;

import { batch, indexedBatch, isSubjectOf, NOW, type SchemaPrefix, type Statement } from "./statement.ts";

/** The columns of a subject as owners and operators see it. */
export const SUBJECT_RECORD = `subject.profile, subject.dispatcher_id, subject.subject_key, subject.group_key, subject.status, subject.revision,
  subject.cursor::text as cursor, subject.meta::text as meta, subject.due_at, subject.available_at, subject.lease_owner,
  subject.attempts, subject.failures, subject.error::text as error, subject.last_success_at, subject.last_failure_at,
  subject.last_started_at,
  subject.timeouts, subject.last_change, subject.created_at, subject.updated_at`;

/**
 * New subjects, due at once unless a time is given. Known ones are left alone. The batch is in the order of keys. Index:
 * subject_pkey.
 */
export function insertSubjects(schema: SchemaPrefix): Statement {
  return {
    name: "insert_subjects",
    planOnce: true,
    text: `
insert into ${schema}subject (profile, dispatcher_id, subject_key, group_key, cursor, meta, due_at, available_at, created_at, updated_at)
select $2, $3, item.subject_key, nullif(item.group_key, ''), coalesce(item.cursor, 'null')::json, coalesce(item.meta, 'null')::json,
  coalesce(item.due_at, clock.now), coalesce(item.due_at, clock.now), clock.now, clock.now
from (select ${NOW} as now) as clock
cross join unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[]) as item(subject_key, group_key, cursor, meta, due_at)
on conflict do nothing`,
  };
}

const REFRESH = { subject_key: "text", group_key: "text", cursor: "text", meta: "text", due_at: "bigint" };

/** The given due time, unless the subject keeps its own. A subject without either is due at once. */
const NEW_DUE_AT = `case when item.due_at is not null and (not $9::boolean or subject.due_at is null) then item.due_at
    else coalesce(subject.due_at, clock.now) end`;

/**
 * Updates known subjects that have no owner: the fields that were given, and a due time if the subject rests. A subject whose
 * lease has run out still has its owner; the next one resumes it where the last one stopped. Writes only if something differs,
 * so that the revision doesn't change for a caller that knows it. $9 is whether cursor and due time are kept. The batch is in
 * the order of keys, in which rows are locked. Index: subject_pkey.
 */
export function refreshSubjects(schema: SchemaPrefix): Statement {
  return {
    name: "refresh_subjects",
    planOnce: true,
    text: `
update ${schema}subject as subject set
  group_key = case when item.group_key is null then subject.group_key else nullif(item.group_key, '') end,
  cursor = case when item.cursor is null or $9::boolean then subject.cursor else item.cursor::json end,
  meta = coalesce(item.meta::json, subject.meta),
  due_at = ${NEW_DUE_AT},
  available_at = ${NEW_DUE_AT},
  status = case when subject.failures > 0 then 'failed' else 'idle' end,
  revision = subject.revision + 1,
  updated_at = clock.now
from (select ${NOW} as now) as clock
cross join ${batch(4, REFRESH, ", $2::text as profile, $3::text as dispatcher_id")} as item
where ${isSubjectOf("subject", "item")}
  and subject.lease_owner is null
  and (
    subject.due_at is distinct from ${NEW_DUE_AT}
    or item.group_key is not null and subject.group_key is distinct from nullif(item.group_key, '')
    or item.cursor is not null and not $9::boolean and subject.cursor::text <> item.cursor
    or item.meta is not null and subject.meta::text <> item.meta
  )`,
  };
}

/**
 * Retires all subjects that aren't listed, except those with an unexpired lease. Their cursors stay.
 * Index: subject_pkey, all entries of the dispatcher.
 */
export function retireSubjects(schema: SchemaPrefix): Statement {
  return {
    name: "retire_subjects",
    slow: true,
    text: `
update ${schema}subject as subject set
  status = 'retired', due_at = null, available_at = null, lease_owner = null,
  revision = subject.revision + 1, updated_at = clock.now
from (select ${NOW} as now) as clock
where subject.profile = $2 and subject.dispatcher_id = $3
  and subject.status <> 'retired'
  and (subject.lease_owner is null or subject.available_at <= clock.now)
  and not exists (select from unnest($4::text[]) as known(subject_key) where known.subject_key = subject.subject_key)`,
  };
}

const CHANGE = {
  profile: "text",
  dispatcher_id: "text",
  subject_key: "text",
  revision: "bigint",
  change_id: "text",
  kind: "text",
  cursor: "text",
  meta: "text",
  due_at: "bigint",
  delay_ms: "bigint",
  lease_ms: "bigint",
  error: "text",
};

const NEXT_DUE_AT = "coalesce(item.due_at, clock.now + item.delay_ms)";
const AT_REST = "case when subject.failures > 0 then 'failed' else 'idle' end";

/**
 * Owners' changes, each only at the revision that the owner knows, and only while the subject has an owner. The batch is in the
 * order of keys, in which rows are locked. Returns the changed subjects. Index: subject_pkey.
 */
export function changeSubjects(schema: SchemaPrefix): Statement {
  return {
    name: "change_subjects",
    planOnce: true,
    text: `
update ${schema}subject as subject set
  status = case item.kind when 'checkpoint' then 'running' when 'complete' then 'idle' when 'fail' then 'failed' else ${AT_REST} end,
  due_at = case when item.kind in ('complete', 'fail') then ${NEXT_DUE_AT} else subject.due_at end,
  available_at = case item.kind
    when 'checkpoint' then coalesce(clock.now + item.lease_ms, subject.available_at)
    when 'release' then subject.due_at
    else ${NEXT_DUE_AT} end,
  lease_owner = case item.kind when 'checkpoint' then subject.lease_owner end,
  attempts = case item.kind when 'complete' then 0 when 'release' then subject.attempts - 1 else subject.attempts end,
  failures = case item.kind when 'complete' then 0 when 'fail' then subject.failures + 1 else subject.failures end,
  timeouts = case when item.kind in ('complete', 'fail') then 0 else subject.timeouts end,
  error = case item.kind when 'complete' then null when 'fail' then item.error::json else subject.error end,
  last_success_at = case item.kind when 'complete' then clock.now else subject.last_success_at end,
  last_failure_at = case item.kind when 'fail' then clock.now else subject.last_failure_at end,
  cursor = coalesce(item.cursor::json, subject.cursor),
  meta = coalesce(item.meta::json, subject.meta),
  revision = subject.revision + 1,
  last_change = item.change_id,
  updated_at = clock.now
from (select ${NOW} as now) as clock
cross join ${indexedBatch(2, CHANGE)} as item
where ${isSubjectOf("subject", "item")}
  and subject.revision = item.revision and subject.lease_owner is not null
returning item.index, ${SUBJECT_RECORD}`,
  };
}

/** Subjects by key. Index: subject_pkey. */
export function findSubjects(schema: SchemaPrefix): Statement {
  return {
    name: "find_subjects",
    planOnce: true,
    text: `
select item.index, found.*
from ${indexedBatch(1, { profile: "text", dispatcher_id: "text", subject_key: "text" })} as item
cross join lateral (
  select ${SUBJECT_RECORD} from ${schema}subject as subject
  where ${isSubjectOf("subject", "item")} limit 1
) as found`,
  };
}

/** One page in the order of keys. Index: subject_pkey, which the other filters don't narrow down. */
export function listSubjects(schema: SchemaPrefix): Statement {
  return {
    name: "list_subjects",
    slow: true,
    text: `
select ${SUBJECT_RECORD} from ${schema}subject as subject
where subject.profile = $1 and subject.dispatcher_id = $2
  and subject.subject_key > $3
  and ($4::text is null or subject.status = $4)
  and ($5::text is null or subject.group_key = $5)
order by subject.subject_key
limit $6`,
  };
}

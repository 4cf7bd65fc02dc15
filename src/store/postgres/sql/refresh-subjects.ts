import type { SchemaPrefix, Statement } from "./statement.ts";
import { batch, isSubjectOf, NOW } from "./statement.ts";

const ITEM = { subject_key: "text", group_key: "text", cursor: "text", meta: "text", due_at: "bigint" };

/** The due time that was given, unless the subject keeps its own; one that has none is due at once. */
const NEW_DUE_AT = `case when item.due_at is not null and (not $9::boolean or subject.due_at is null) then item.due_at
    else coalesce(subject.due_at, clock.now) end`;

/**
 * Known subjects that aren't leased or running: fields that were given, and a due time if it rests. One whose lease has run out
 * is still running: its next owner resumes it where the last one stopped. Only if something differs, so that a caller that holds
 * its revision isn't disturbed for nothing. $9 is whether cursor and due time are kept. The batch is in the order of keys, in
 * which rows are locked. Index: subject_pkey.
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
cross join ${batch(4, ITEM, ", $2::text as profile, $3::text as dispatcher_id")} as item
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

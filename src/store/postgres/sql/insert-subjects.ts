import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";

/** Known ones are left alone. Due at once, unless they say when. The batch is in the order of keys. Index: subject_pkey. */
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

import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";

/** All that aren't listed, except those with a lease that lasts. Their cursors stay. Index: subject_pkey, the whole of one dispatcher. */
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

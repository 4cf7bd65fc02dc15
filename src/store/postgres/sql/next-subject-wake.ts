import type { SchemaPrefix, Statement } from "./statement.ts";
import { IN_QUEUE_ORDER, NOW } from "./statement.ts";

/** How long until the earliest is due. Index: subject_due gives the first entry. */
export function nextSubjectWake(schema: SchemaPrefix): Statement {
  return {
    name: "next_subject_wake",
    planOnce: true,
    text: `
select subject.available_at - ${NOW} as remaining
from ${schema}subject as subject
where subject.profile = $2 ${IN_QUEUE_ORDER} and subject.dispatcher_id = $3 and subject.available_at is not null
order by subject.available_at, subject.subject_key
limit 1`,
  };
}

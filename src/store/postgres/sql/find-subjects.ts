import type { SchemaPrefix, Statement } from "./statement.ts";
import { isSubjectOf, placedBatch } from "./statement.ts";
import { RECORD } from "./subject-record.ts";

/** Index: subject_pkey. */
export function findSubjects(schema: SchemaPrefix): Statement {
  return {
    name: "find_subjects",
    planOnce: true,
    text: `
select item.place, found.*
from ${placedBatch(1, { profile: "text", dispatcher_id: "text", subject_key: "text" })} as item
cross join lateral (
  select ${RECORD} from ${schema}subject as subject
  where ${isSubjectOf("subject", "item")} limit 1
) as found`,
  };
}

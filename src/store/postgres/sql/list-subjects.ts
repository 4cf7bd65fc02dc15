import type { SchemaPrefix, Statement } from "./statement.ts";
import { RECORD } from "./subject-record.ts";

/** One page in the order of keys. Index: subject_pkey, which the other filters don't narrow down. */
export function listSubjects(schema: SchemaPrefix): Statement {
  return {
    name: "list_subjects",
    slow: true,
    text: `
select ${RECORD} from ${schema}subject as subject
where subject.profile = $1 and subject.dispatcher_id = $2
  and subject.subject_key > $3
  and ($4::text is null or subject.status = $4)
  and ($5::text is null or subject.group_key = $5)
order by subject.subject_key
limit $6`,
  };
}

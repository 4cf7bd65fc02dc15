import type { SchemaPrefix, Statement } from "./statement.ts";
import { isSubjectOf, NOW, placedBatch } from "./statement.ts";

const ITEM = { profile: "text", dispatcher_id: "text", subject_key: "text", revision: "bigint" };

/** Extends leases, each at the revision of its owner only. The batch is in the order of keys. Index: subject_pkey. */
export function renewSubjects(schema: SchemaPrefix): Statement {
  return {
    name: "renew_subjects",
    planOnce: true,
    text: `
update ${schema}subject as subject set available_at = clock.now + $2::bigint
from (select ${NOW} as now) as clock
cross join ${placedBatch(3, ITEM)} as item
where ${isSubjectOf("subject", "item")}
  and subject.revision = item.revision and subject.lease_owner is not null
returning item.place`,
  };
}

import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";

/** Deleted instances that have to be swept up after. Index: deleted_instance_due. */
export function findDeletedInstances(schema: SchemaPrefix): Statement {
  return {
    name: "find_deleted_instances",
    text: `
select deleted.ref from ${schema}deleted_instance as deleted
where deleted.due_at <= ${NOW}
order by deleted.due_at
limit $2
for update skip locked`,
  };
}

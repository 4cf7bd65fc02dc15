import { UNDER_WAY_MS } from "./mark-deleted.ts";
import { batch, isInstanceOf, NOW, type SchemaPrefix, type Statement } from "./statement.ts";

/** Nothing is left of these. Those that somebody may still have been writing to are looked at once more. Index: deleted_instance_pkey. */
export function forgetDeletedInstances(schema: SchemaPrefix): Statement {
  return {
    name: "forget_deleted_instances",
    text: `
with gone as materialized (select * from ${batch(2, { ref: "text" })} as gone),
forgotten as (
  delete from ${schema}deleted_instance as deleted using gone where ${isInstanceOf("deleted", "gone")} and deleted.final
)
update ${schema}deleted_instance as deleted set due_at = ${NOW} + ${UNDER_WAY_MS}, final = true
from gone
where ${isInstanceOf("deleted", "gone")} and not deleted.final`,
  };
}

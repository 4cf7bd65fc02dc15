import type { SchemaPrefix, Statement } from "./statement.ts";
import { isNamedBy, placedBatch } from "./statement.ts";

/** Who has the ids that could not be inserted. Index: instance_id. */
export function findCreatedInstances(schema: SchemaPrefix): Statement {
  return {
    name: "find_created_instances",
    text: `
select item.place, found.ref, found.parent, found.created_at
from ${placedBatch(1, { namespace: "text", name: "text", id: "text" })} as item
cross join lateral (
  select instance.ref, instance.parent, instance.created_at from ${schema}instance as instance where ${isNamedBy("instance", "item")} limit 1
) as found`,
  };
}

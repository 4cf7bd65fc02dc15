import { RECORD } from "./instance-record.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";
import { isNamedBy, placedBatch } from "./statement.ts";

/** Instances by their names. Index: instance_id. */
export function findInstances(schema: SchemaPrefix): Statement {
  return {
    name: "find_instances",
    planOnce: true,
    text: `
select item.place, ${RECORD}
from ${placedBatch(1, { namespace: "text", name: "text", id: "text" })} as item
cross join lateral (
  select * from ${schema}instance as instance where ${isNamedBy("instance", "item")} limit 1
) as instance`,
  };
}

import type { SchemaPrefix, Statement } from "./statement.ts";
import { isInstanceOf, placedBatch } from "./statement.ts";

/** How far instances have come. Indexes: instance_pkey, journal_pkey. */
export function readPositions(schema: SchemaPrefix): Statement {
  return {
    name: "read_positions",
    planOnce: true,
    text: `
select item.place, instance.run, instance.status, coalesce(last.position, 0) as position
from ${placedBatch(1, { ref: "text" })} as item
cross join lateral (
  select instance.ref, instance.run, instance.status
  from ${schema}instance as instance where ${isInstanceOf("instance", "item")} limit 1
) as instance
left join lateral (
  select journal.position from ${schema}journal as journal
  where journal.ref = instance.ref and journal.run = instance.run
  order by journal.position desc limit 1
) as last on true`,
  };
}

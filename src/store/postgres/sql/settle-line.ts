import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";

/**
 * When to look at a line again: at a time, or earlier, when the first of those is due that sleep in it. What is due there already was
 * locked by somebody, who will tell the line; `$6` is how long to wait for that. Indexes: line_pkey, instance_slots.
 */
export function settleLine(schema: SchemaPrefix): Statement {
  return {
    name: "settle_line",
    planOnce: true,
    text: `
with clock as materialized (select ${NOW} as now),
sleeping as materialized (
  select work.available_at from ${schema}instance as work
  where work.slot_key = $3 and work.class = 5 and work.available_at is not null
  order by work.available_at, work.ref
  limit case when $6::bigint is null or $2::int = 1 then 0 else 1 end
)
update ${schema}line as line set
  blocked = $4,
  available_at = least($5::bigint, (select greatest(sleeping.available_at, clock.now + $6::bigint) from sleeping))
from clock
where line.kind = $2 and line.key = $3
returning line.available_at`,
  };
}

/**
 * Deletes a line that nobody is in, and of which nobody holds a slot. Asks for the first in the order of the index: PostgreSQL may
 * believe that most instances are of this key, and would look for one in the whole table. Indexes: line_pkey, instance_slots.
 */
export function dropLine(schema: SchemaPrefix): Statement {
  return {
    name: "drop_line",
    planOnce: true,
    text: `
delete from ${schema}line as line
where line.kind = $1 and line.key = $2
  and (select work.ref from ${schema}instance as work where $1 = 0 and work.slot_key = $2 and work.class >= 2
    order by work.class, work.available_at, work.ref limit 1) is null`,
  };
}

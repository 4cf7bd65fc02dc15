import { QUEUE_KEY, type QueueTable } from "./queue-table.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";
import { IN_QUEUE_ORDER, NOW } from "./statement.ts";

/** How long until the earliest row of these lanes is due. Index: hook_due or instance_due gives the first entry of each lane. */
export function nextWake(table: QueueTable): (schema: SchemaPrefix) => Statement {
  return (schema) => ({
    name: `next_${table}_wake`,
    planOnce: true,
    text: `
select min(earliest.available_at) - ${NOW} as remaining
from unnest($2::text[], $3::smallint[], $4::text[]) as lane(namespace, class, names)
cross join lateral (
  select work.available_at
  from ${schema}${table} as work
  where work.namespace = lane.namespace ${IN_QUEUE_ORDER}
    and work.class = lane.class
    and work.available_at is not null
    and work.name = any (lane.names::text[])
  order by work.available_at, work.${QUEUE_KEY[table]}
  limit 1
) as earliest`,
  });
}

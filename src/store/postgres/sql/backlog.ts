import { QUEUE_KEY, type QueueTable } from "./queue.ts";
import { IN_QUEUE_ORDER, NOW, type SchemaPrefix, type Statement } from "./statement.ts";

/**
 * How many rows of each lane are due, and how many are due later, each up to $3, and the first of them. $4 has the lanes.
 * Index: hook_due or instance_due, which alone has this collation.
 */
export function countLanes(table: QueueTable): (schema: SchemaPrefix) => Statement {
  return (schema) => {
    const inLane = `from ${schema}${table} as work
    where work.namespace = $2 ${IN_QUEUE_ORDER} and work.class = lane.class and work.available_at`;
    const inOrder = `order by work.available_at, work.${QUEUE_KEY[table]}`;
    return {
      name: `count_${table}_lanes`,
      planOnce: true,
      text: `
select lane.class, ${NOW} as now,
  (select count(*) from (select ${inLane} <= ${NOW} ${inOrder} limit $3) as due) as due,
  (select count(*) from (select ${inLane} > ${NOW} ${inOrder} limit $3) as later) as later,
  (select work.available_at ${inLane} is not null ${inOrder} limit 1) as first
from unnest($4::smallint[]) as lane(class)`,
    };
  };
}

/** How many dead letters there are, up to $2. Index: hook_failed. */
export function countDeadLetters(schema: SchemaPrefix): Statement {
  return {
    name: "count_dead_letters",
    text: `
select count(*) as count from (
  select from ${schema}hook as hook
  where hook.namespace = $1 and hook.available_at is null and hook.error is not null
  order by hook.id limit $2
) as failed`,
  };
}

import type { SchemaPrefix, Statement } from "./statement.ts";
import { IN_QUEUE_ORDER, NOW } from "./statement.ts";

/** How long until the earliest row of these lanes is due. Index: hook_due gives the first entry of each lane. */
export function nextHookWake(schema: SchemaPrefix): Statement {
  return {
    name: "next_hook_wake",
    planOnce: true,
    text: `
select min(earliest.available_at) - ${NOW} as remaining
from unnest($2::text[], $3::smallint[], $4::text[]) as lane(namespace, class, names)
cross join lateral (
  select hook.available_at
  from ${schema}hook as hook
  where hook.namespace = lane.namespace ${IN_QUEUE_ORDER}
    and hook.class = lane.class
    and hook.available_at is not null
    and hook.name = any (lane.names::text[])
  order by hook.available_at, hook.id
  limit 1
) as earliest`,
  };
}

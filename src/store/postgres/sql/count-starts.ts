import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";

/**
 * For each of some rates: how many starts count, when the last of them was, and when that was which is the last but as many as the
 * limit. Those that don't count any more are deleted. Index: start_pkey.
 */
export function countStarts(schema: SchemaPrefix): Statement {
  return {
    name: "count_starts",
    planOnce: true,
    text: `
with clock as materialized (select ${NOW} as now),
forgotten as (
  delete from ${schema}start as start using clock where start.key = any ($2::text[]) and start.at <= clock.now - $3::bigint
)
select item.key, clock.now, counted.starts, counted.latest, (
  select start.at from ${schema}start as start where start.key = item.key order by start.at desc offset $4::int - 1 limit 1
) as decisive
from unnest($2::text[]) as item(key) cross join clock
cross join lateral (
  select count(*) as starts, max(start.at) as latest from ${schema}start as start
  where start.key = item.key and start.at > clock.now - $3::bigint
) as counted`,
  };
}

import type { SchemaPrefix, Statement } from "./statement.ts";
import { batch, foundRows, NOW } from "./statement.ts";

/**
 * For each of some rates: how many starts count, when the last of them was, and when that was which is the last but as many as the
 * limit. Those that don't count any more are deleted. Index: start_pkey.
 */
export function countStarts(schema: SchemaPrefix): Statement {
  const old = `
    select old.ctid from rate cross join lateral (
      select start.ctid from ${schema}start as start
      where start.key = any (array[rate.key]) and start.at <= (select now from clock) - $3::bigint
      order by start.at limit (select null::bigint)
    ) as old`;
  return {
    name: "count_starts",
    planOnce: true,
    text: `
with clock as materialized (select ${NOW} as now),
rate as materialized (select * from ${batch(2, { key: "text" })} as item),
forgotten as (
  delete from ${schema}start as start using ${foundRows(old)} as found where start.ctid = found.ctid
)
select rate.key, clock.now, counted.starts, counted.latest, (
  select start.at from ${schema}start as start where start.key = rate.key order by start.at desc offset $4::int - 1 limit 1
) as decisive
from rate cross join clock
cross join lateral (
  select count(*) as starts, max(counted.at) as latest from (
    select start.at from ${schema}start as start
    where start.key = any (array[rate.key]) and start.at > clock.now - $3::bigint
    order by start.at limit (select null::bigint)
  ) as counted
) as counted`,
  };
}

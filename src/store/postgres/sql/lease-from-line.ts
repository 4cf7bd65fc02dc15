import { CLAIMED_COLUMNS } from "./claimed-columns.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";

/**
 * How many slots of a key are taken, and what was let in: as many as are free, and no more than the room; first what has begun, then,
 * if new ones may start, those. Our lock of the line keeps everybody else from taking a slot meanwhile. What somebody has just
 * locked is skipped. They go through arrays, of which PostgreSQL expects one row (see `batch`): it can't know the limit, and would rather read the whole table than
 * so many rows. Index: instance_slots; blocked rows are never read beyond those that are taken.
 */
export function leaseFromLine(schema: SchemaPrefix): Statement {
  const next = (workClass: number, limit: string) => `(
  select work.ctid, work.available_at as due_at, work.started_at as previously_started_at
  from ${schema}instance as work
  where work.slot_key = $2 and work.class = ${workClass} and work.available_at <= (select now from clock)
  order by work.available_at, work.ref
  limit ${limit}
  for update skip locked
)`;
  return {
    name: "lease_from_line",
    planOnce: true,
    text: `
with clock as materialized (select ${NOW} as now),
held as materialized (select count(*)::int as held from ${schema}instance as work where work.slot_key = $2 and work.class = 2),
free as materialized (select greatest(least(coalesce($3::int - held.held, $4::int), $4::int), 0) as room from held),
continuing as materialized ${next(5, "(select room from free)")},
fresh as materialized ${next(6, "case when $5::boolean then (select room from free) - (select count(*) from continuing) else 0 end")},
found as materialized (select * from continuing union all select * from fresh),
taken as materialized (
  select * from unnest(
    array(select found.ctid from found), array(select found.due_at from found), array(select found.previously_started_at from found)
  ) as taken(ctid, due_at, previously_started_at)
  limit (select null::bigint)
),
leased as (
  update ${schema}instance as instance set
    lock = $6, class = 2, available_at = clock.now + $7::bigint, started_at = coalesce(instance.started_at, clock.now)
  from taken, clock
  where instance.ctid = taken.ctid
  returning ${CLAIMED_COLUMNS}
)
select held.held, clock.now, leased.* from held cross join clock left join leased on true`,
  };
}

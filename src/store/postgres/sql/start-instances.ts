import { CLAIMED_COLUMNS } from "./claimed-columns.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";
import { batch, isInstanceOf, NOW } from "./statement.ts";

/**
 * Lets in some that stand in line to start, and counts their starts where they have a rate. Somebody is to forget those when they
 * don't count any more. What somebody has just locked is skipped. Indexes: instance_pkey, start_pkey, line_pkey.
 */
export function startInstances(schema: SchemaPrefix): Statement {
  return {
    name: "start_instances",
    planOnce: true,
    text: `
with clock as materialized (select ${NOW} as now),
taken as materialized (
  select work.*
  from ${batch(2, { ref: "text" })} as item
  cross join lateral (
    select work.ctid, work.available_at as due_at, work.started_at as previously_started_at
    from ${schema}instance as work
    where ${isInstanceOf("work", "item")} and work.class = 6 and work.available_at is not null
    for update skip locked
  ) as work
),
leased as (
  update ${schema}instance as instance set
    lock = $3, class = 2, available_at = clock.now + $4::bigint, started_at = coalesce(instance.started_at, clock.now)
  from taken, clock
  where instance.ctid = taken.ctid
  returning ${CLAIMED_COLUMNS}, instance.rate_key
),
counted as (
  insert into ${schema}start (key, at, ref, run)
  select leased.rate_key, clock.now, leased.ref, leased.run from leased cross join clock
  where leased.rate_key is not null and $5::bigint is not null
),
remembered as (
  update ${schema}line as line set available_at = coalesce(line.available_at, clock.now + $5::bigint)
  from (select distinct 1::smallint as kind, leased.rate_key from leased limit (select null::bigint)) as leased cross join clock
  where line.kind = any (array[leased.kind]) and line.key = any (array[leased.rate_key])
)
select * from leased`,
  };
}

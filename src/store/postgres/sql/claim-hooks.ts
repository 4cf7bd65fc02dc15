import type { SchemaPrefix, Statement } from "./statement.ts";
import { IN_QUEUE_ORDER, NOW } from "./statement.ts";

/**
 * Takes what is due, lane by lane (a lane is a class of one namespace), the oldest first within each, and stops at the limit:
 * rows are locked one by one as they are taken, so nothing is locked that isn't claimed. At most one row is taken over from an
 * owner that was lost. What another claimer is just taking is skipped. Materialized, or a replanned join could run the locking
 * scan twice and exceed the limit. `since` is where an earlier claim stopped: what it took has left entries in the index that
 * stay until the next vacuum, and reading past all of them for every batch would make a long queue slow.
 * Index: hook_due serves each lane in its order; sleeping rows are never read.
 */
export function claimHooks(schema: SchemaPrefix): Statement {
  return {
    name: "claim_hooks",
    planOnce: true,
    text: `
with clock as materialized (select ${NOW} as now),
lane as materialized (
  select * from unnest($2::text[], $3::smallint[], $4::text[], $5::bigint[])
    with ordinality as lane(namespace, class, names, since, place)
),
lost as materialized (
  ${takeDue(schema, "lane.class = 2")}
  limit 1
),
due as materialized (
  ${takeDue(schema, "lane.class < 2")}
  limit $6::int - (select count(*) from lost)
)
update ${schema}hook as hook set
  lock = $7,
  class = 2,
  available_at = clock.now + $8::bigint,
  attempts = hook.attempts + 1,
  recoveries = hook.recoveries + case when hook.lock is null then 0 else 1 end,
  last_attempt_at = clock.now
from (select * from lost union all select * from due) as taken, clock
where hook.ctid = taken.ctid
returning hook.namespace, hook.id, hook.lock, hook.name, hook.key, hook.own_id, hook.attempts, hook.recoveries, hook.triggers,
  hook.payload::text as payload, hook.retries::text as retries, hook.trace::text as trace, hook.created_at,
  taken.previous_attempt_at, taken.due_at, taken.place, clock.now as claimed_at`,
  };
}

function takeDue(schema: SchemaPrefix, lanes: string): string {
  return `select next.*, lane.place from lane cross join lateral (
    select hook.ctid, hook.available_at as due_at, hook.last_attempt_at as previous_attempt_at
    from ${schema}hook as hook
    where hook.namespace = lane.namespace ${IN_QUEUE_ORDER}
      and hook.class = lane.class
      and hook.available_at <= (select now from clock)
      and hook.available_at >= lane.since
      and hook.name = any (lane.names::text[])
    order by hook.available_at, hook.id
    limit $6
    for update skip locked
  ) as next
  where ${lanes}`;
}

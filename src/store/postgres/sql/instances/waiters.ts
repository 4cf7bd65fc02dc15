import { WorkClass } from "../../../queue/work-class.ts";
import { batch, indexedBatch, isInstanceOf, isNamedBy, NOW, type SchemaPrefix, type Statement } from "../statement.ts";
import { joinLines, noteLines } from "../tell-lines.ts";

/**
 * Adds waiters to instances that aren't finished, and returns the ends of those that are. The instances are locked in the order
 * of refs, so that the answer is about their present state. Indexes: instance_id, then instance_pkey.
 */
export function awaitEnds(schema: SchemaPrefix): Statement {
  const text = "text";
  return {
    name: "await_ends",
    planOnce: true,
    text: `
with item as materialized (
  select item.*, named.ref
  from ${indexedBatch(1, { namespace: text, name: text, id: text, waiter: "jsonb" })} as item
  cross join lateral (
    select instance.ref from ${schema}instance as instance where ${isNamedBy("instance", "item")} limit 1
  ) as named
),
locked as materialized (
  select item.index, item.waiter, instance.ref, instance.run, instance.namespace, instance.name, instance.id, instance.outcome,
    instance.output::text as output, instance.error::text as error, instance.waiters
  from (select * from item order by item.ref, item.index) as item
  join ${schema}instance as instance on ${isInstanceOf("instance", "item")}
  for update of instance
),
added as (
  update ${schema}instance as instance set waiters = coalesce(instance.waiters, '[]'::jsonb) || fresh.waiters
  from (
    select locked.ref, jsonb_agg(distinct locked.waiter) as waiters from locked
    where locked.outcome is null and not coalesce(locked.waiters @> jsonb_build_array(locked.waiter), false)
    group by locked.ref
    order by locked.ref
  ) as fresh
  where ${isInstanceOf("instance", "fresh")}
)
select locked.index, locked.ref, locked.run, locked.namespace, locked.name, locked.id, locked.outcome, locked.output, locked.error from locked`,
  };
}

/**
 * Locks instances that are about to end, together with those that wait for them, in the order of refs. Returns the waiters as
 * they were when the statement began and as they are: if they differ, another waiter has come meanwhile, and may not be locked.
 * Index: instance_pkey.
 */
export function lockAwaited(schema: SchemaPrefix): Statement {
  return {
    name: "lock_awaited",
    text: `
with target as materialized (
  select instance.ref, instance.waiters
  from ${batch(1, { ref: "text" })} as item
  cross join lateral (
    select instance.ref, instance.waiters from ${schema}instance as instance where ${isInstanceOf("instance", "item")} limit 1
  ) as instance
),
concerned as materialized (
  select each.ref, bool_or(each.awaited) as awaited, max(each.waiters) as waiters
  from (
    select target.ref collate "C" as ref, true as awaited, target.waiters::text as waiters from target
    union all
    select (waiter.value ->> 0) collate "C", false, null from target cross join lateral jsonb_array_elements(target.waiters) as waiter
  ) as each
  group by each.ref
)
select instance.ref, item.awaited, item.waiters as waiters_before, instance.waiters::text as waiters
from (select * from concerned order by concerned.ref limit (select null::bigint)) as item
join ${schema}instance as instance on ${isInstanceOf("instance", "item")}
for update of instance`,
  };
}

/** Which of these instances others wait for. Index: instance_pkey. */
export function findAwaited(schema: SchemaPrefix): Statement {
  return {
    name: "find_awaited",
    text: `
select item.ref
from ${batch(1, { ref: "text" })} as item
cross join lateral (
  select instance.waiters from ${schema}instance as instance where ${isInstanceOf("instance", "item")} limit 1
) as instance
where instance.waiters is not null`,
  };
}

/** Stores the waiters of locked instances; null when they are told. Index: instance_pkey. */
export function writeWaiters(schema: SchemaPrefix): Statement {
  return {
    name: "write_waiters",
    text: `
update ${schema}instance as instance set waiters = item.waiters
from ${batch(1, { ref: "text", waiters: "jsonb" })} as item
where ${isInstanceOf("instance", "item")}`,
  };
}

/**
 * Sends the ends of instances to those that wait for them, and makes them due, as `sendEvents` does. All are locked already. A
 * run that is finished, or isn't the present one, is left out. Returns the refs of the others. Indexes: instance_pkey,
 * event_pkey.
 */
export function tellWaiters(schema: SchemaPrefix): Statement {
  const items = indexedBatch(2, { ref: "text", run: "int", event_id: "text", type: "text", payload: "json" });
  return {
    name: "tell_waiters",
    tellsLater: true,
    text: `
with clock as materialized (select ${NOW} as now),
addressed as materialized (
  select item.*, instance.wakes from ${items} as item
  cross join lateral (
    select instance.wakes from ${schema}instance as instance
    where ${isInstanceOf("instance", "item")} and instance.run = item.run and instance.outcome is null limit 1
  ) as instance
),
stored as (
  insert into ${schema}event (ref, run, id, sequence, type, payload, at)
  select addressed.ref, addressed.run, addressed.event_id,
    addressed.wakes + row_number() over (partition by addressed.ref order by addressed.index), addressed.type, addressed.payload, clock.now
  from addressed cross join clock
  on conflict do nothing
  returning ref, sequence
),
woken as (
  update ${schema}instance as instance set
    wakes = latest.sequence,
    available_at = case when (instance.class in (${WorkClass.continuing}, ${WorkClass.lineContinuing}) or instance.class = ${WorkClass.leased} and instance.lock is null) and not instance.paused then least(instance.available_at, clock.now)
      else instance.available_at end
  from (select stored.ref, max(stored.sequence) as sequence from stored group by stored.ref order by stored.ref) as latest cross join clock
  where ${isInstanceOf("instance", "latest")}
  returning instance.ref, instance.namespace, instance.name, instance.class, instance.available_at, instance.slot_key, instance.rate_key
),
joined as (
  ${joinLines(schema, "woken", { later: true })}
)
select woken.ref, ${noteLines("joined")} from woken`,
  };
}

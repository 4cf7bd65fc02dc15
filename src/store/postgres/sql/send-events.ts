import type { SchemaPrefix, Statement } from "./statement.ts";
import { isInstanceOf, isNamedBy, NOW, placedBatch } from "./statement.ts";
import { joinLines } from "./tell-lines.ts";

/**
 * Stores events and wakes their instances. Those are locked first, in the order of refs, so that the sequences are in the order
 * of commits, and that what we know of them is what is true now. An event whose id its run has is left out: one that we can see,
 * before sequences are given, and one that was sent at this very moment, when it is inserted. What waits is due at once, and
 * keeps its turn if it was due already. Who has it, or has yet to begin, will see for himself.
 * Gives what became of each event. Indexes: instance_id, instance_pkey, event_pkey; line_pkey.
 */
export function sendEvents(schema: SchemaPrefix): Statement {
  const text = "text";
  const names = { namespace: text, name: text, id: text };
  return {
    name: "send_events",
    planOnce: true,
    text: `
with clock as materialized (select ${NOW} as now),
item as materialized (
  select item.*, named.ref
  from ${placedBatch(2, { ...names, event_id: text, type: text, payload: "json" })} as item
  cross join lateral (
    select instance.ref from ${schema}instance as instance where ${isNamedBy("instance", "item")} limit 1
  ) as named
),
locked as materialized (
  select item.*, instance.run, instance.wakes, instance.outcome is not null as finished
  from (select * from item order by item.ref, item.place) as item
  join ${schema}instance as instance on ${isInstanceOf("instance", "item")}
  for update of instance
),
addressed as materialized (
  select locked.*, known.exists is not null as known
  from locked left join lateral (
    select true as exists from ${schema}event as event
    where ${isInstanceOf("event", "locked")} and event.run = locked.run and event.id = locked.event_id
    limit 1
  ) as known on true
),
stored as (
  insert into ${schema}event (ref, run, id, sequence, type, payload, at)
  select addressed.ref, addressed.run, addressed.event_id,
    addressed.wakes + row_number() over (partition by addressed.ref order by addressed.place), addressed.type, addressed.payload, clock.now
  from addressed cross join clock
  where not addressed.finished and not addressed.known
  on conflict do nothing
  returning ref, id, sequence
),
woken as (
  update ${schema}instance as instance set
    wakes = latest.sequence,
    available_at = case when instance.class in (0, 5) and not instance.paused then least(instance.available_at, clock.now)
      else instance.available_at end
  from (select stored.ref, max(stored.sequence) as sequence from stored group by stored.ref order by stored.ref) as latest cross join clock
  where ${isInstanceOf("instance", "latest")}
  returning instance.namespace, instance.name, instance.class, instance.available_at, instance.slot_key, instance.rate_key
),
joined as (
  ${joinLines(schema, "woken")}
)
select addressed.place, addressed.ref, addressed.finished and not addressed.known as finished,
  not coalesce((addressed.ref, addressed.event_id) in (select stored.ref, stored.id from stored), false) as known
from addressed`,
  };
}

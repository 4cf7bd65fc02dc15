import { WorkClass } from "../../../queue/work-class.ts";
import type { SchemaPrefix, Statement } from "../statement.ts";
import { indexedBatch, isInstanceOf, isNamedBy, NOW } from "../statement.ts";
import { andNoteLines, joinLines, type Telling, whenTold } from "../tell-lines.ts";

/**
 * Stores events and wakes their instances. The instances are locked first, in the order of refs, so that sequences follow the
 * order of commits and the decisions are about the present state. An event whose id its run has is left out: a visible one
 * before sequences are given, and one that is sent at the same moment when it is inserted.
 *
 * A waiting instance is due at once, and keeps its rank if it was due before. An owner sees the wake by itself, and so does an
 * instance that hasn't begun. Pending events are counted only where the number of wakes allows that there are too many.
 *
 * Returns the result of each event. Indexes: instance_id, instance_pkey, event_pkey; line_pkey; journal_pkey.
 */
export function sendEvents(schema: SchemaPrefix, telling: Telling = {}): Statement {
  const text = "text";
  const names = { namespace: text, name: text, id: text };
  return {
    name: `send_events${whenTold(telling)}`,
    planOnce: true,
    ...(telling.later && { tellsLater: true }),
    text: `
with clock as materialized (select ${NOW} as now),
item as materialized (
  select item.*, named.ref
  from ${indexedBatch(2, { ...names, event_id: text, type: text, payload: "json", max_pending: "integer", only_ref: text, only_run: "integer" })} as item
  cross join lateral (
    select instance.ref from ${schema}instance as instance where ${isNamedBy("instance", "item")} limit 1
  ) as named
),
locked as materialized (
  select item.*, instance.run, instance.wakes, instance.outcome is not null as finished
  from (select * from item order by item.ref, item.index) as item
  join ${schema}instance as instance on ${isInstanceOf("instance", "item")}
    and (item.only_ref is null or (instance.ref = item.only_ref and instance.run = item.only_run))
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
crowded as materialized (
  select addressed.ref, addressed.run from addressed
  where not addressed.finished and not addressed.known
  group by addressed.ref, addressed.run
  having max(addressed.wakes) + count(*) > min(addressed.max_pending)
),
waiting as materialized (
  select crowded.ref,
    (select count(*) from ${schema}event as event where ${isInstanceOf("event", "crowded")} and event.run = crowded.run)
    - (select count(*) from ${schema}journal as entry
      where ${isInstanceOf("entry", "crowded")} and entry.run = crowded.run and entry.event is not null) as events
  from crowded
),
judged as materialized (
  select addressed.*, not addressed.finished and not addressed.known and coalesce(
    (select waiting.events from waiting where waiting.ref = addressed.ref)
      + row_number() over (partition by addressed.ref, addressed.finished, addressed.known order by addressed.index)
      > addressed.max_pending, false) as "full"
  from addressed
),
stored as (
  insert into ${schema}event (ref, run, id, sequence, type, payload, at)
  select judged.ref, judged.run, judged.event_id,
    judged.wakes + row_number() over (partition by judged.ref order by judged.index), judged.type, judged.payload, clock.now
  from judged cross join clock
  where not judged.finished and not judged.known and not judged."full"
  on conflict do nothing
  returning ref, id, sequence
),
woken as (
  update ${schema}instance as instance set
    wakes = latest.sequence,
    available_at = case when (instance.class in (${WorkClass.continuing}, ${WorkClass.lineContinuing}) or instance.class = ${WorkClass.leased} and instance.lock is null) and not instance.paused then least(instance.available_at, clock.now)
      else instance.available_at end
  from (select stored.ref, max(stored.sequence) as sequence from stored group by stored.ref order by stored.ref) as latest cross join clock
  where ${isInstanceOf("instance", "latest")}
  returning instance.namespace, instance.name, instance.class, instance.available_at, instance.slot_key, instance.rate_key
),
joined as (
  ${joinLines(schema, "woken", telling)}
)
select judged.index, judged.ref, judged.finished and not judged.known as finished, judged."full",
  not coalesce((judged.ref, judged.event_id) in (select stored.ref, stored.id from stored), false) as known${andNoteLines(telling, "joined")}
from judged`,
  };
}

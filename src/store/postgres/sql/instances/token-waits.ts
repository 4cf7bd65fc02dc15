import { batch, indexedBatch, isInstanceOf, NOW, type SchemaPrefix, type Statement } from "../statement.ts";

/** Locks the instances that tokens send events to, in the order of refs. Index: instance_pkey. */
export function lockTokenRuns(schema: SchemaPrefix): Statement {
  return {
    name: "lock_token_runs",
    text: `
select instance.ref
from (select * from ${batch(1, { ref: "text" })} as item order by item.ref collate "C") as item
join ${schema}instance as instance on ${isInstanceOf("instance", "item")}
for update of instance`,
  };
}

/**
 * The tokens whose waits have ended, must have ended by now, or belong to a run that is rolled back. Of a token that was used
 * before the run has the event: those are left out. Indexes: instance_pkey, event_pkey, journal_pkey.
 */
export function findEndedTokens(schema: SchemaPrefix): Statement {
  const columns = { ref: "text", run: "int", event_id: "text", name: "text", count: "int" };
  return {
    name: "find_ended_tokens",
    text: `
with clock as materialized (select ${NOW} as now)
select item.index
from clock cross join ${indexedBatch(2, columns)} as item
cross join lateral (
  select instance.rolling_back from ${schema}instance as instance where ${isInstanceOf("instance", "item")} limit 1
) as instance
left join lateral (
  select true as exists from ${schema}event as event
  where ${isInstanceOf("event", "item")} and event.run = item.run and event.id = item.event_id
  limit 1
) as known on true
left join lateral (
  select true as exists from ${schema}journal as entry
  where ${isInstanceOf("entry", "item")} and entry.run = item.run and entry.type = 'token' and entry.name = item.name
    and entry.count = item.count and (entry.kind <> 'waiting' or entry.due_at < clock.now)
  limit 1
) as ended on true
where known.exists is null and (instance.rolling_back is not null or ended.exists)`,
  };
}

import { isInstanceOf, placedBatch, type SchemaPrefix, type Statement } from "./statement.ts";

/** One page of an instance's journal, with the events that its entries received. Indexes: journal_pkey, event_pkey. */
export function readHistory(schema: SchemaPrefix, order: "oldest" | "newest"): Statement {
  const [comparison, direction] = order === "oldest" ? [">", "asc"] : ["<", "desc"];
  return {
    name: `read_history_${order}`,
    text: `
select entry.run, entry.position, entry.kind, entry.type, entry.name, entry.count, entry.attempt, entry.value::text as value,
  entry.due_at, entry.event, entry.parent, entry.at, event.id as event_id,
  event.type as event_type, event.payload as event_payload
from ${schema}journal as entry
left join lateral (
  select event.id, event.type, event.payload::text as payload from ${schema}event as event
  where entry.event is not null and event.ref = entry.ref and event.run = entry.run and event.sequence = entry.event
) as event on true
where entry.ref = $1
  and ($2::int is null or entry.run = $2)
  and ($3::int is null or (entry.run, entry.position) ${comparison} ($3, $4::int))
  and ($6::boolean or entry.kind <> 'progress' or entry.value is not null)
order by entry.run ${direction}, entry.position ${direction}
limit $5`,
  };
}

/** Index: past_run_pkey. */
export function readPastRuns(schema: SchemaPrefix): Statement {
  return {
    name: "read_past_runs",
    text: `
select past.run, past.status, past.output::text as output, past.error::text as error, past.rollback::text as rollback, past.started_at, past.finished_at
from ${schema}past_run as past where past.ref = $1 and past.run > $2::int order by past.run limit $3::bigint`,
  };
}

/** How far instances have come. Indexes: instance_pkey, journal_pkey. */
export function readPositions(schema: SchemaPrefix): Statement {
  return {
    name: "read_positions",
    planOnce: true,
    text: `
select item.place, instance.run, instance.status, coalesce(last.position, 0) as position
from ${placedBatch(1, { ref: "text" })} as item
cross join lateral (
  select instance.ref, instance.run, instance.status
  from ${schema}instance as instance where ${isInstanceOf("instance", "item")} limit 1
) as instance
left join lateral (
  select journal.position from ${schema}journal as journal
  where journal.ref = instance.ref and journal.run = instance.run
  order by journal.position desc limit 1
) as last on true`,
  };
}

/** What a step told while it ran. Index: journal_pkey. */
export function dropProgress(schema: SchemaPrefix): Statement {
  return {
    name: "drop_progress",
    text: `
update ${schema}journal as journal set value = null
where journal.ref = $1 and journal.run = $2 and journal.position >= $3 and journal.kind = 'progress'
  and journal.type = $4 and journal.name = $5 and journal.count = $6 and journal.parent is not distinct from $7`,
  };
}

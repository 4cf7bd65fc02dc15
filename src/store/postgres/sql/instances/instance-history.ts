import { indexedBatch, isInstanceOf, NOW, type SchemaPrefix, type Statement } from "../statement.ts";

/**
 * A page of an instance's journal, with the events that its entries received. Its size is limited twice, as in `loadInstances`:
 * by the stored size, then by the sent size. Indexes: journal_pkey, event_pkey.
 */
export function readHistory(schema: SchemaPrefix, order: "oldest" | "newest"): Statement {
  const [comparison, direction] = order === "oldest" ? [">", "asc"] : ["<", "desc"];
  return {
    name: `read_history_${order}`,
    text: `
with wanted as (
  select entry.run, entry.position, entry.kind, entry.type, entry.name, entry.count, entry.attempt, entry.value,
    entry.due_at, entry.event, entry.parent, entry.at, event.id as event_id,
    event.type as event_type, event.payload as event_payload
  from ${schema}journal as entry
  left join lateral (
    select event.id, event.type, event.payload from ${schema}event as event
    where entry.event is not null and event.ref = entry.ref and event.run = entry.run and event.sequence = entry.event
  ) as event on true
  where entry.ref = $1
    and ($2::int is null or entry.run = $2)
    and ($3::int is null or (entry.run, entry.position) ${comparison} ($3, $4::int))
    and ($6::boolean or entry.kind <> 'progress' or entry.value is not null)
  order by entry.run ${direction}, entry.position ${direction}
  limit $5
), stored as (
  select wanted.*,
    row_number() over reading as index,
    count(*) over () as wanted_count,
    sum(coalesce(pg_column_size(wanted.value), 0) + coalesce(pg_column_size(wanted.event_payload), 0)) over reading as stored_bytes
  from wanted
  window reading as (order by wanted.run ${direction}, wanted.position ${direction} rows unbounded preceding)
), fitting as (
  select stored.run, stored.position, stored.kind, stored.type, stored.name, stored.count, stored.attempt, stored.value::text as value,
    stored.due_at, stored.event, stored.parent, stored.at, stored.event_id, stored.event_type,
    stored.event_payload::text as event_payload, stored.index, stored.wanted_count
  from stored
  where stored.stored_bytes <= $7::bigint or stored.index = 1
), sent as (
  select fitting.*,
    sum(coalesce(octet_length(fitting.value), 0) + coalesce(octet_length(fitting.event_payload), 0))
      over (order by fitting.index rows unbounded preceding) as sent_bytes
  from fitting
)
select sent.run, sent.position, sent.kind, sent.type, sent.name, sent.count, sent.attempt, sent.value, sent.due_at, sent.event, sent.parent,
  sent.at, sent.event_id, sent.event_type, sent.event_payload, sent.wanted_count
from sent
where sent.sent_bytes <= $7::bigint or sent.index = 1
order by sent.index`,
  };
}

/**
 * The events of a run that callers have sent and no step has received: how many there are, and the oldest ($3) of them, with as
 * many payloads as fit into some bytes ($4). The list of received events is read once, and only if there are events. Indexes:
 * event_pkey, journal_pkey.
 */
export function readUnreceivedEvents(schema: SchemaPrefix): Statement {
  return {
    name: "read_unreceived_events",
    text: `
with unreceived as materialized (
  select event.ref, event.run, event.id, event.sequence, count(*) over () as total
  from ${schema}event as event
  where event.ref = $1 and event.run = $2::int and event.type not like '$%' and event.sequence not in (
    select journal.event from ${schema}journal as journal
    where journal.ref = $1 and journal.run = $2::int and journal.event is not null
  )
  order by event.sequence
  limit $3
), listed as (
  select event.id, event.sequence, event.type, event.at, unreceived.total, event.payload::text as payload
  from unreceived cross join lateral (
    select event.id, event.sequence, event.type, event.at, event.payload from ${schema}event as event
    where event.ref = unreceived.ref and event.run = unreceived.run and event.id = unreceived.id
    limit 1
  ) as event
)
select listed.id, listed.sequence, listed.type, listed.at, listed.total,
  case when sum(octet_length(listed.payload)) over (order by listed.sequence rows unbounded preceding) <= $4::bigint
    then listed.payload end as payload
from listed
order by listed.sequence`,
  };
}

/** A page of an instance's earlier runs. Index: past_run_pkey. */
export function readPastRuns(schema: SchemaPrefix): Statement {
  return {
    name: "read_past_runs",
    text: `
select past.run, past.version, past.status, past.output::text as output, past.error::text as error, past.rollback::text as rollback, past.started_at, past.finished_at
from ${schema}past_run as past where past.ref = $1 and past.run > $2::int order by past.run limit $3::bigint`,
  };
}

/** Where an instance stands in the queue. Index: instance_pkey. */
export function readSituation(schema: SchemaPrefix): Statement {
  return {
    name: "read_situation",
    planOnce: true,
    text: `
select ${NOW} as now, instance.ref, instance.class, instance.lock, instance.paused_by, instance.available_at, instance.slot_key, instance.rate_key
from ${schema}instance as instance where instance.ref = $2`,
  };
}

/** The last positions of instances. Indexes: instance_pkey, journal_pkey. */
export function readPositions(schema: SchemaPrefix): Statement {
  return {
    name: "read_positions",
    planOnce: true,
    text: `
select item.index, instance.run, instance.status, coalesce(last.position, 0) as position
from ${indexedBatch(1, { ref: "text" })} as item
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

/** Deletes the progress that a step reported while it ran. Index: journal_pkey. */
export function dropProgress(schema: SchemaPrefix): Statement {
  return {
    name: "drop_progress",
    text: `
update ${schema}journal as journal set value = null
where journal.ref = $1 and journal.run = $2 and journal.position >= $3 and journal.kind = 'progress'
  and journal.type = $4 and journal.name = $5 and journal.count = $6 and journal.parent is not distinct from $7`,
  };
}

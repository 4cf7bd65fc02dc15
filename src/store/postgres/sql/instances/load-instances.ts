import { PAGE_BYTES, ROW_BYTES } from "../../../instances/load-page.ts";
import { indexedBatch, isInstanceOf, type SchemaPrefix, type Statement } from "../statement.ts";

/** One row more than fits in a page. */
const MOST_ROWS = Math.ceil(PAGE_BYTES / ROW_BYTES) + 1;

/** The kinds of rows in an answer. */
export const LOADED = { run: 0, entry: 1, event: 2 } as const;

/**
 * A page of the histories of runs, in one snapshot: a row for each run that is still the present one, with its wakes, and rows
 * for its journal entries and events. The size is limited twice. First, for each run, by the stored size, which is known
 * without reading the values; then, for the whole page, by the sent size, because compressed values grow when they are read.
 * The first row is always sent. Indexes: instance_pkey, journal_pkey, event_pkey.
 */
export function loadInstances(schema: SchemaPrefix): Statement {
  return {
    name: "load_instances",
    planOnce: true,
    text: `
with ${presentRuns(schema, indexedBatch(1, { ref: "text", run: "int", after_position: "int", after_sequence: "int" }))},
part as (
  select present.index, ${LOADED.entry} as part, entry.position, entry.kind, entry.type, entry.name, entry.count, entry.attempt, entry.value,
    entry.due_at, entry.event, entry.parent, entry.at, entry.began
  from present cross join lateral (
    select journal.position, journal.kind, journal.type, journal.name, journal.count, journal.attempt,
      case when journal.kind <> 'progress' then journal.value end as value,
      journal.due_at, journal.event, journal.parent, journal.at, journal.began
    from ${schema}journal as journal
    where ${isInstanceOf("journal", "present")} and journal.run = present.run and journal.position > present.after_position
      and (journal.kind <> 'progress' or journal.value is not null)
    order by journal.position limit ${MOST_ROWS}
  ) as entry
  union all
  select present.index, ${LOADED.event}, event.sequence, null, event.type, event.id, null, null, event.payload, null, null, null, event.at, null
  from present cross join lateral (
    select event.sequence, event.type, event.id, event.payload, event.at
    from ${schema}event as event
    where ${isInstanceOf("event", "present")} and event.run = present.run and event.sequence > present.after_sequence
    order by event.sequence limit ${MOST_ROWS}
  ) as event
), stored as (
  select part.*, sum(coalesce(pg_column_size(part.value), 0) + ${ROW_BYTES})
    over (partition by part.index order by part.part, part.position rows unbounded preceding) as stored_bytes
  from part
), fitting as (
  select stored.index, stored.part, stored.position, stored.kind, stored.type, stored.name, stored.count, stored.attempt,
    stored.value::text as value, stored.due_at, stored.event, stored.parent, stored.at, stored.began, stored.stored_bytes
  from stored
  where stored.stored_bytes - coalesce(pg_column_size(stored.value), 0) - ${ROW_BYTES} < $5::bigint
), sent as (
  select fitting.*, sum(coalesce(octet_length(fitting.value), 0) + ${ROW_BYTES})
    over (order by fitting.index, fitting.part, fitting.position rows unbounded preceding) as sent_bytes
  from fitting
)
select present.index, ${LOADED.run} as part, present.wakes as position, null as kind, null as type, null as name, null::int as count,
  null::int as attempt, null as value, null::bigint as due_at, null::int as event, null as parent, null::bigint as at, null::int as began,
  null::bigint as stored_bytes, null::bigint as sent_bytes
from present
union all
select sent.index, sent.part, sent.position, sent.kind, sent.type, sent.name, sent.count, sent.attempt, sent.value, sent.due_at, sent.event,
  sent.parent, sent.at, sent.began, sent.stored_bytes, sent.sent_bytes
from sent
where sent.sent_bytes - coalesce(octet_length(sent.value), 0) - ${ROW_BYTES} < ${PAGE_BYTES}`,
  };
}

/** The runs of a batch that exist and are the present runs of their instances. Index: instance_pkey. */
function presentRuns(schema: SchemaPrefix, runs: string): string {
  return `present as materialized (
  select item.*, instance.wakes
  from ${runs} as item
  cross join lateral (
    select instance.wakes from ${schema}instance as instance where ${isInstanceOf("instance", "item")} and instance.run = item.run limit 1
  ) as instance
)`;
}

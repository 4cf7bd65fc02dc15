import type { SchemaPrefix, Statement } from "./statement.ts";
import { isInstanceOf, placedBatch } from "./statement.ts";

/** Which rows of one answer are what. */
export const LOADED = { run: 0, entry: 1, event: 2 } as const;

/**
 * What runs have been through, in one snapshot: a row for each run that is still the present one, which tells its wakes, and rows
 * for its journal entries and its events. Indexes: instance_pkey, journal_pkey, event_pkey.
 */
export function loadInstances(schema: SchemaPrefix): Statement {
  return {
    name: "load_instances",
    planOnce: true,
    text: `
with ${presentRuns(schema, placedBatch(1, { ref: "text", run: "int" }))}
select present.place, ${LOADED.run} as part, present.wakes as position, null as kind, null as type, null as name, null::int as count,
  null::int as attempt, null as value, null::bigint as due_at, null::int as event, null as parent, null::bigint as at, null::int as began
from present
union all
select present.place, ${LOADED.entry}, entry.position, entry.kind, entry.type, entry.name, entry.count, entry.attempt, entry.value,
  entry.due_at, entry.event, entry.parent, entry.at, entry.began
from present cross join lateral (
  select journal.position, journal.kind, journal.type, journal.name, journal.count, journal.attempt,
    case when journal.kind <> 'progress' then journal.value::text end as value,
    journal.due_at, journal.event, journal.parent, journal.at, journal.began
  from ${schema}journal as journal where ${isInstanceOf("journal", "present")} and journal.run = present.run
    and (journal.kind <> 'progress' or journal.value is not null)
  order by journal.position
) as entry
union all
select present.place, ${LOADED.event}, event.sequence, null, event.type, event.id, null, null, event.payload, null, null, null, event.at, null
from present cross join lateral (
  select event.sequence, event.type, event.id, event.payload::text as payload, event.at
  from ${schema}event as event where ${isInstanceOf("event", "present")} and event.run = present.run
  order by event.sequence
) as event`,
  };
}

/** The runs of a batch that are there and haven't been restarted since. */
export function presentRuns(schema: SchemaPrefix, runs: string): string {
  return `present as materialized (
  select item.*, instance.wakes
  from ${runs} as item
  cross join lateral (
    select instance.wakes from ${schema}instance as instance where ${isInstanceOf("instance", "item")} and instance.run = item.run limit 1
  ) as instance
)`;
}

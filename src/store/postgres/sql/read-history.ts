import type { SchemaPrefix, Statement } from "./statement.ts";

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

/** One page of an instance's journal, with the events that its entries received. Indexes: both primary keys. */
export function readHistory(
  order: "oldest" | "newest",
  { paged, oneRun, dropped = false }: { paged: boolean; oneRun: boolean; dropped?: boolean },
): string {
  const [comparison, direction, start] = order === "oldest" ? [">", "asc", "0"] : ["<", "desc", "9e15"];
  return `
select entry.run, entry.position, entry.kind, entry.type, entry.name, entry.count, entry.attempt, entry.value, entry.due_at,
  entry.event, entry.parent, entry.at, event.id as event_id,
  event.type as event_type, event.payload as event_payload
from perdure_journal as entry
  left join perdure_event as event on event.ref = entry.ref and event.run = entry.run and event.sequence = entry.event
where entry.ref = ?1
  ${oneRun ? "and entry.run = ?3" : "and ?3 is null"}
  ${paged ? `and (entry.run, entry.position) ${comparison} (?4, ?5)` : "and ?4 is null and ?5 is null"}
  ${paged && oneRun ? `and entry.position ${comparison} case when ?4 = ?3 then ?5 else ${start} end` : ""}
  ${dropped ? "" : "and (entry.kind <> 'progress' or entry.value is not null)"}
order by entry.run ${direction}, entry.position ${direction}
limit ?2`;
}

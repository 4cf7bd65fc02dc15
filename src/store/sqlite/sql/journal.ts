/** Adds an entry. Writes nothing if the position is taken. Index: the primary key. */
export const INSERT_ENTRY = `
insert into perdure_journal (ref, run, position, kind, type, name, count, attempt, value, due_at, event, parent, at, began)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (ref, run, position) do nothing`;

/** Removes the entries of a commit that found a later position taken. Index: the primary key. */
export const DELETE_ENTRIES = `
delete from perdure_journal where ref = ? and run = ? and position >= ? and position < ?`;

/** A run's entries after a position, without dropped progress and without the values of progress. Index: the primary key. */
export const READ_JOURNAL = `
select position, kind, type, name, count, attempt, case when kind <> 'progress' then value end as value, due_at, event, parent, at,
  began
from perdure_journal
where ref = ? and run = ? and position > ? and (kind <> 'progress' or value is not null)
order by position limit ?`;

interface HistoryQuery {
  readonly paged: boolean;
  readonly oneRun: boolean;
  readonly dropped?: boolean;
}

const COLUMNS = `entry.run, entry.position, entry.kind, entry.type, entry.name, entry.count, entry.attempt, entry.value, entry.due_at,
  entry.event, entry.parent, entry.at, event.id as event_id,
  event.type as event_type, event.payload as event_payload`;

/** SQLite knows the length of a value without reading it. */
const BYTES = "coalesce(octet_length(entry.value), 0) + coalesce(octet_length(event.payload), 0) as bytes";

/** One page of an instance's journal, with the events that its entries received. Indexes: both primary keys. */
export function readHistory(order: "oldest" | "newest", query: HistoryQuery): string {
  return selectHistory(COLUMNS, order, query);
}

/** How large the entries of the same page are. Indexes: both primary keys. */
export function measureHistory(order: "oldest" | "newest", query: HistoryQuery): string {
  return selectHistory(BYTES, order, query);
}

function selectHistory(
  columns: string,
  order: "oldest" | "newest",
  { paged, oneRun, dropped = false }: HistoryQuery,
): string {
  const [comparison, direction, start] = order === "oldest" ? [">", "asc", "0"] : ["<", "desc", "9e15"];
  return `
select ${columns}
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

/** Drops the values of one step's progress; the entries keep their positions. Index: the primary key. */
export const DROP_PROGRESS = `
update perdure_journal set value = null
where ref = ? and run = ? and position >= ? and kind = 'progress' and type = ? and name = ? and count = ? and parent is ?`;

/**
 * Copies entries of a run to the next run, from position 1 on; ?3 has the position of each, and its place. Index: the primary
 * key.
 */
export const KEEP_ENTRIES = `
insert into perdure_journal (ref, run, position, kind, type, name, count, attempt, value, due_at, event, parent, at, began)
select journal.ref, journal.run + 1, item.key + 1, journal.kind, journal.type, journal.name, journal.count, journal.attempt,
  journal.value, journal.due_at, journal.event, journal.parent, journal.at, item.value ->> 1
from json_each(?3) as item
cross join perdure_journal as journal on journal.ref = ?1 and journal.run = ?2 and journal.position = item.value ->> 0`;

/**
 * Copies the events that those entries received to the next run; with ?4, all that callers sent. An end of another instance is
 * told to the step that waited for it, and to no step of another run. Indexes: both primary keys.
 */
export const KEEP_EVENTS = `
insert into perdure_event (ref, run, id, sequence, type, payload, at)
select event.ref, event.run + 1, event.id, event.sequence, event.type, event.payload, event.at
from perdure_event as event
where event.ref = ?1 and event.run = ?2 and (?4 and event.type not like '$%' or event.sequence in (
  select journal.event from perdure_journal as journal
  where journal.ref = ?1 and journal.run = ?2 and journal.position in (select value from json_each(?3))
))`;

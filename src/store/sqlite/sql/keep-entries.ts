/** Copies entries of a run to the one after it, at its first positions. Index: the primary key. */
export const KEEP_ENTRIES = `
insert into perdure_journal (ref, run, position, kind, type, name, count, attempt, value, due_at, event, parent, at, began)
select ref, run + 1, row_number() over (order by position), kind, type, name, count, attempt, value, due_at, event, parent, at,
  began
from perdure_journal
where ref = ?1 and run = ?2 and position in (select value from json_each(?3))`;

/** And the events that they received; with `?4`, those that none of them received, too. Indexes: both primary keys. */
export const KEEP_EVENTS = `
insert into perdure_event (ref, run, id, sequence, type, payload, at)
select event.ref, event.run + 1, event.id, event.sequence, event.type, event.payload, event.at
from perdure_event as event
where event.ref = ?1 and event.run = ?2 and (?4 or event.sequence in (
  select journal.event from perdure_journal as journal
  where journal.ref = ?1 and journal.run = ?2 and journal.position in (select value from json_each(?3))
))`;

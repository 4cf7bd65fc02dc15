import { WorkClass } from "../../queue/work-class.ts";

/** The instance that an event is for, and the event's sequence in its run. Index: perdure_instance_id. */
export const FIND_RECIPIENT = `
select ref, run, outcome, wakes + 1 as sequence, class, paused, rolling_back from perdure_instance where namespace = ? and name = ? and id = ?`;

/** Whether a run already has an event of this id. Index: the primary key. */
export const FIND_EVENT = `select 1 from perdure_event where ref = ? and run = ? and id = ?`;

/** Whether the wait of a token has ended in a run, or must have ended by now. Index: the primary key. */
export const FIND_ENDED_TOKEN = `
select 1 from perdure_journal
where ref = ?1 and run = ?2 and type = 'token' and name = ?3 and count = ?4 and (kind <> 'waiting' or due_at < ?5)
limit 1`;

/** The number of a run's events that no step has received. Indexes: the primary keys of both tables. */
export const COUNT_PENDING_EVENTS = `
select (select count(*) from perdure_event where ref = ?1 and run = ?2)
  - (select count(*) from perdure_journal where ref = ?1 and run = ?2 and event is not null) as pending`;

/** Writes nothing if the run already has the event. Index: the primary key. */
export const INSERT_EVENT = `
insert into perdure_event (ref, run, id, sequence, type, payload, at)
values (?, ?, ?, ?, ?, ?, ?)
on conflict (ref, run, id) do nothing`;

/**
 * Makes a waiting instance due now; one that was due already keeps its rank. An owner notices that `wakes` has changed, and an
 * instance that hasn't started will load the event anyway. Index: the primary key.
 */
export const WAKE_INSTANCE = `
update perdure_instance set
  wakes = wakes + 1, available_at = case when (class in (${WorkClass.continuing}, ${WorkClass.lineContinuing}) or class = ${WorkClass.leased} and lock is null) and not paused then min(available_at, ?) else available_at end
where ref = ?`;

/**
 * A run's events after a sequence. The index finds the run; the sort by sequence is over that run's events only. Index: the
 * primary key.
 */
export const READ_EVENTS = `
select id, sequence, type, payload, at from perdure_event where ref = ? and run = ? and sequence > ? order by sequence limit ?`;

/**
 * The events of a run that callers have sent and no step has received: how many there are, and the oldest (?3) of them, with as
 * many payloads as fit into some bytes (?4). The list of received events is read once, and only if there are events. Index: the
 * primary keys of both tables.
 */
export const READ_UNRECEIVED_EVENTS = `
with unreceived as materialized (
  select event.id, event.sequence, count(*) over () as total
  from perdure_event as event
  where event.ref = ?1 and event.run = ?2 and event.type not like '$%' and event.sequence not in (
    select journal.event from perdure_journal as journal where journal.ref = ?1 and journal.run = ?2 and journal.event is not null
  )
  order by event.sequence
  limit ?3
)
select event.id, event.sequence, event.type, event.at, unreceived.total,
  case when sum(octet_length(event.payload)) over (order by event.sequence rows unbounded preceding) <= ?4 then event.payload end as payload
from unreceived cross join perdure_event as event on event.ref = ?1 and event.run = ?2 and event.id = unreceived.id
order by event.sequence`;

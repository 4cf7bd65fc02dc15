import { WorkClass } from "../../queue/work-class.ts";

/** Who gets an event, and its number there. Index: perdure_instance_id. */
export const FIND_RECIPIENT = `
select ref, run, outcome, wakes + 1 as sequence, class, paused from perdure_instance where namespace = ? and name = ? and id = ?`;

/** Whether a run has an event. Index: the primary key. */
export const FIND_EVENT = `select 1 from perdure_event where ref = ? and run = ? and id = ?`;

/** Events of a run that no step has received. Index: the primary keys of both tables. */
export const COUNT_PENDING_EVENTS = `
select (select count(*) from perdure_event where ref = ?1 and run = ?2)
  - (select count(*) from perdure_journal where ref = ?1 and run = ?2 and kind = 'received') as pending`;

/** An event that the run has is left alone. Index: the primary key. */
export const INSERT_EVENT = `
insert into perdure_event (ref, run, id, sequence, type, payload, at)
values (?, ?, ?, ?, ?, ?, ?)
on conflict (ref, run, id) do nothing`;

/**
 * What waits is due at once, and keeps its turn if it was due already. Who has it, or has yet to begin, will see for himself.
 * Index: the primary key.
 */
export const WAKE_INSTANCE = `
update perdure_instance set
  wakes = wakes + 1, available_at = case when (class in (${WorkClass.continuing}, ${WorkClass.lineContinuing}) or class = ${WorkClass.leased} and lock is null) and not paused then min(available_at, ?) else available_at end
where ref = ?`;

/** Events of a run after a sequence: they lie together, but not in their order. Index: the primary key. */
export const READ_EVENTS = `
select id, sequence, type, payload, at from perdure_event where ref = ? and run = ? and sequence > ? order by sequence limit ?`;

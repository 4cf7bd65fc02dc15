/** Names one schedule. */
const SCHEDULE_KEY = "namespace = ? and workflow = ? and name = ? and cron = ? and timezone = ?";

/** All schedules of some namespaces. Index: the primary key. */
export const LIST_SCHEDULES = `
select namespace, workflow, name, cron, timezone, due_at, last_at, paused, confirmed_at from perdure_schedule
where namespace in (select value from json_each(?))
order by namespace, workflow, name, cron, timezone`;

/**
 * Writes nothing if the schedule exists. If another schedule of its name is paused, the new one is paused too. Index: the
 * primary key.
 */
export const INSERT_SCHEDULE = `
insert into perdure_schedule (namespace, workflow, name, cron, timezone, due_at, confirmed_at, paused)
select ?1, ?2, ?3, ?4, ?5, case when other.paused then null else ?6 end, ?7, other.paused
from (
  select exists (select 1 from perdure_schedule where namespace = ?1 and workflow = ?2 and name = ?3 and paused) as paused
) as other
where true
on conflict do nothing`;

/** Notes that a process has the schedule in its code. Index: the primary key. */
export const CONFIRM_SCHEDULE = `update perdure_schedule set confirmed_at = ? where ${SCHEDULE_KEY}`;

/** Moves a due schedule on, if its due time is still the one that the sender knows. Index: the primary key. */
export const FIRE_SCHEDULE = `
update perdure_schedule set due_at = ?, last_at = ?, confirmed_at = ?
where ${SCHEDULE_KEY} and due_at = ? and due_at <= ?`;

/** Pauses a workflow's schedules of one name, or all of them. Index: the primary key. */
export const PAUSE_SCHEDULES = `
update perdure_schedule set paused = 1, due_at = null
where namespace = ?1 and workflow = ?2 and (?3 is null or name = ?3)`;

/** Resumes a paused schedule. Index: the primary key. */
export const RESUME_SCHEDULE = `update perdure_schedule set paused = 0, due_at = ? where ${SCHEDULE_KEY} and paused`;

/** Deletes a schedule that no process has confirmed lately. Index: the primary key. */
export const RETIRE_SCHEDULE = `delete from perdure_schedule where ${SCHEDULE_KEY} and confirmed_at < ?`;

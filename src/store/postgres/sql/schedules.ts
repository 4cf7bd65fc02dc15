import { createdInstances } from "./instances/instance-inserts.ts";
import { batch, NOW, type SchemaPrefix, type Statement } from "./statement.ts";

const KEY = { namespace: "text", workflow: "text", name: "text", cron: "text", timezone: "text" };

/** A batch of schedules from array parameters, starting with this one: their keys, and if timed, when each is due. */
function scheduleBatch(firstParameter: number, options: { timed: boolean }): string {
  return batch(firstParameter, options.timed ? { ...KEY, due_at: "bigint" } : KEY);
}

/** Whether a row is the one that a row of a batch names. Index: schedule_pkey. */
const IS_SCHEDULE_OF_ITEM = Object.keys(KEY)
  .map((column) => `schedule.${column} = any (array[item.${column}])`)
  .join(" and ");

/** All schedules of some namespaces. The database's time is returned even if there are none. Index: schedule_pkey. */
export function listSchedules(schema: SchemaPrefix): Statement {
  return {
    name: "list_schedules",
    text: `
select clock.now, schedule.*
from (select ${NOW} as now) as clock
left join ${schema}schedule as schedule on schedule.namespace = any ($2::text[])
order by schedule.namespace, schedule.workflow, schedule.name, schedule.cron, schedule.timezone`,
  };
}

/** A known schedule is left alone. A new one is paused if another with its name is. Index: schedule_pkey. */
export function insertSchedules(schema: SchemaPrefix): Statement {
  return {
    name: "insert_schedules",
    text: `
insert into ${schema}schedule (namespace, workflow, name, cron, timezone, due_at, confirmed_at, paused)
select item.namespace, item.workflow, item.name, item.cron, item.timezone, case when not other.paused then item.due_at end, ${NOW}, other.paused
from ${scheduleBatch(2, { timed: true })} as item
cross join lateral (
  select exists (
    select from ${schema}schedule as other
    where other.namespace = item.namespace and other.workflow = item.workflow and other.name = item.name and other.paused
  ) as paused
) as other
on conflict do nothing`,
  };
}

/**
 * Writes that schedules are still defined. Locked rows are skipped: another process is writing the same. Index: schedule_pkey.
 */
export function confirmSchedules(schema: SchemaPrefix): Statement {
  return {
    name: "confirm_schedules",
    text: `
update ${schema}schedule as schedule set confirmed_at = ${NOW}
where schedule.ctid = any (array(
  select found.ctid from ${scheduleBatch(2, { timed: false })} as item
  cross join lateral (
    select schedule.ctid from ${schema}schedule as schedule where ${IS_SCHEDULE_OF_ITEM} for update skip locked
  ) as found
))`,
  };
}

/** Pauses the schedules of a workflow, or one of them. Index: schedule_pkey. */
export function pauseSchedules(schema: SchemaPrefix): Statement {
  return {
    name: "pause_schedules",
    text: `
update ${schema}schedule as schedule set paused = true, due_at = null
where schedule.namespace = $1 and schedule.workflow = $2 and ($3::text is null or schedule.name = $3::text)`,
  };
}

/** Resumes paused schedules, each with its next due time. Index: schedule_pkey. */
export function resumeSchedules(schema: SchemaPrefix): Statement {
  return {
    name: "resume_schedules",
    text: `
update ${schema}schedule as schedule set paused = false, due_at = item.due_at
from ${scheduleBatch(1, { timed: true })} as item
where ${IS_SCHEDULE_OF_ITEM} and schedule.paused`,
  };
}

/** Deletes schedules that no process has confirmed since $1. Index: schedule_pkey. */
export function retireSchedules(schema: SchemaPrefix): Statement {
  return {
    name: "retire_schedules",
    text: `
delete from ${schema}schedule as schedule
using ${scheduleBatch(2, { timed: false })} as item
where ${IS_SCHEDULE_OF_ITEM} and schedule.confirmed_at < $1::bigint`,
  };
}

/**
 * Moves a schedule on from the due time that the sender knows, if that time has come, and creates the instance, if there is
 * one. It is one statement, so that the row isn't locked while PostgreSQL waits for the client. `limited`: the instance joins a
 * line.
 * Index: schedule_pkey; for those of the instance see `insertInstances`.
 */
export function fireSchedule(schema: SchemaPrefix, instance: "none" | "unlimited" | "limited"): Statement {
  const created = createdInstances(schema, instance === "limited", { condition: "exists (select from fired)" });
  const first = instance === "none" ? 2 : 12;
  const parameter = (index: number) => `$${first + index}`;
  return {
    name: `fire_schedule_${instance}`,
    text: `
with clock as materialized (select ${NOW} as now),
fired as (
  update ${schema}schedule as schedule set
    due_at = ${parameter(6)}::bigint, last_at = ${parameter(7)}::bigint, confirmed_at = clock.now
  from clock
  where schedule.namespace = ${parameter(0)} and schedule.workflow = ${parameter(1)} and schedule.name = ${parameter(2)}
    and schedule.cron = ${parameter(3)} and schedule.timezone = ${parameter(4)}
    and schedule.due_at = ${parameter(5)}::bigint and schedule.due_at <= clock.now
  returning schedule.due_at
)${instance === "none" ? "" : `,\n${created}`}
select exists (select from fired) as fired`,
  };
}

import { createdInstances } from "./instance-inserts.ts";
import { batch, NOW, type SchemaPrefix, type Statement } from "./statement.ts";

const KEY = { namespace: "text", workflow: "text", name: "text", cron: "text", timezone: "text" };

/** Schedules from arrays that are parameters from this one on: their keys, then when each is due. */
export function scheduleBatch(firstParameter: number, options: { timed: boolean }): string {
  return batch(firstParameter, options.timed ? { ...KEY, due_at: "bigint" } : KEY);
}

/** Whether a row is the one that a row of a batch names. Index: schedule_pkey. */
export const IS_SCHEDULE_OF_ITEM = Object.keys(KEY)
  .map((column) => `schedule.${column} = any (array[item.${column}])`)
  .join(" and ");

/** Gives the time, also where there are none. Index: schedule_pkey. */
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

/** A known one is left alone; one whose name is paused, with other times, is paused, too. Index: schedule_pkey. */
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

/** Those that somebody is just writing are left out: he says the same. Index: schedule_pkey. */
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

/** Index: schedule_pkey. */
export function pauseSchedules(schema: SchemaPrefix): Statement {
  return {
    name: "pause_schedules",
    text: `
update ${schema}schedule as schedule set paused = true, due_at = null
where schedule.namespace = $1 and schedule.workflow = $2 and ($3::text is null or schedule.name = $3::text)`,
  };
}

/** Index: schedule_pkey. */
export function resumeSchedules(schema: SchemaPrefix): Statement {
  return {
    name: "resume_schedules",
    text: `
update ${schema}schedule as schedule set paused = false, due_at = item.due_at
from ${scheduleBatch(1, { timed: true })} as item
where ${IS_SCHEDULE_OF_ITEM} and schedule.paused`,
  };
}

/** Index: schedule_pkey. */
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
 * Only from the time that the sender knows, and not before it has come; with the instance that is created then, if there is one. In
 * one statement, so that its lock is never held while we are to say something. `limited`: the instance stands in line.
 * Index: schedule_pkey; of the instance see `insertInstances`.
 */
export function fireSchedule(schema: SchemaPrefix, instance: "none" | "unlimited" | "limited"): Statement {
  const created = createdInstances(schema, instance === "limited", "exists (select from fired)");
  const first = instance === "none" ? 2 : 11;
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

import { scheduleBatch } from "./schedule-batch.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";

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

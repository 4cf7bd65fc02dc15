import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";

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

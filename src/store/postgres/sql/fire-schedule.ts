import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";

/** Only from the time that the sender knows, and not before it has come. Index: schedule_pkey. */
export function fireSchedule(schema: SchemaPrefix): Statement {
  return {
    name: "fire_schedule",
    text: `
update ${schema}schedule as schedule set due_at = $8::bigint, last_at = $9::bigint, confirmed_at = clock.now
from (select ${NOW} as now) as clock
where schedule.namespace = $2 and schedule.workflow = $3 and schedule.name = $4 and schedule.cron = $5 and schedule.timezone = $6
  and schedule.due_at = $7::bigint and schedule.due_at <= clock.now`,
  };
}

import { IS_SCHEDULE_OF_ITEM, scheduleBatch } from "./schedule-batch.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";

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

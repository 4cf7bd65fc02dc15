import { IS_SCHEDULE_OF_ITEM, scheduleBatch } from "./schedule-batch.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";

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

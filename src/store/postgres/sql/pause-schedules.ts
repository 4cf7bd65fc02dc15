import type { SchemaPrefix, Statement } from "./statement.ts";

/** Index: schedule_pkey. */
export function pauseSchedules(schema: SchemaPrefix): Statement {
  return {
    name: "pause_schedules",
    text: `
update ${schema}schedule as schedule set paused = true, due_at = null
where schedule.namespace = $1 and schedule.workflow = $2 and ($3::text is null or schedule.name = $3::text)`,
  };
}

import { IS_SCHEDULE_OF_ITEM, scheduleBatch } from "./schedule-batch.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";

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

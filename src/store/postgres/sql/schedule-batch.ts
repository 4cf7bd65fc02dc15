import { batch } from "./statement.ts";

const KEY = { namespace: "text", workflow: "text", name: "text", cron: "text", timezone: "text" };

/** Schedules from arrays that are parameters from this one on: their keys, then when each is due. */
export function scheduleBatch(firstParameter: number, options: { timed: boolean }): string {
  return batch(firstParameter, options.timed ? { ...KEY, due_at: "bigint" } : KEY);
}

/** Whether a row is the one that a row of a batch names. Index: schedule_pkey. */
export const IS_SCHEDULE_OF_ITEM = Object.keys(KEY)
  .map((column) => `schedule.${column} = any (array[item.${column}])`)
  .join(" and ");

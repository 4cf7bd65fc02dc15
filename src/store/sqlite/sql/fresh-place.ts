import { LOWEST_PRIORITY, PRIORITY_STEP_MS } from "../../fresh-place.ts";

/** See `freshPlace`: the same for a row that is there already. */
export const FRESH_CLASS = `case when slot_key is not null or rate_key is not null then 6
    when priority > 0 then 3 when priority < 0 then 4 else 1 end`;

/** Of one that stands in line. `now` is a parameter. */
export function linePlace(now: string): string {
  return `${now} - (priority - (${LOWEST_PRIORITY}) + 1) * ${PRIORITY_STEP_MS}`;
}

export function freshTime(now: string): string {
  return `case when priority = 0 and slot_key is null and rate_key is null then ${now} else ${linePlace(now)} end`;
}

import { LOWEST_PRIORITY, PRIORITY_STEP_MS } from "../../queue/rank.ts";

/** See `freshRank`: the same in SQL. `row` has a priority and the keys. */
export function freshClass(row: string): string {
  return `case when ${row}.slot_key is not null or ${row}.rate_key is not null then 6
    when ${row}.priority > 0 then 3 when ${row}.priority < 0 then 4 else 1 end`;
}

/** Of one that stands in line, or has a priority. */
export function linePlace(row: string): string {
  return `clock.now - (${row}.priority - (${LOWEST_PRIORITY}) + 1) * ${PRIORITY_STEP_MS}::bigint`;
}

export function freshTime(row: string): string {
  return `case when ${row}.priority = 0 and ${row}.slot_key is null and ${row}.rate_key is null then clock.now else ${linePlace(row)} end`;
}

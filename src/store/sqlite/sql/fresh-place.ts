import { LOWEST_PRIORITY, PRIORITY_STEP_MS } from "../../queue/rank.ts";

interface Keys {
  readonly slotKey: string;
  readonly rateKey: string;
}

/** See `freshRank`: the same for a row that is there already, and these keys. */
export function freshClass({ slotKey, rateKey }: Keys): string {
  return `case when ${slotKey} is not null or ${rateKey} is not null then 6
    when priority > 0 then 3 when priority < 0 then 4 else 1 end`;
}

/** Of one that stands in line. `now` is a parameter. */
export function linePlace(now: string): string {
  return `${now} - (priority - (${LOWEST_PRIORITY}) + 1) * ${PRIORITY_STEP_MS}`;
}

export function freshTime(now: string, { slotKey, rateKey }: Keys): string {
  return `case when priority = 0 and ${slotKey} is null and ${rateKey} is null then ${now} else ${linePlace(now)} end`;
}

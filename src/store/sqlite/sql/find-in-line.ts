import { LineKind } from "../../lines/line-records.ts";
import { CLAIMED_COLUMNS } from "./claimed-columns.ts";

const IN_LINE = {
  [LineKind.slots]: "slot_key = ? and class >= 2",
  [LineKind.starts]: "rate_key = ? and slot_key is null and class >= 5",
};

/** Those that have begun and are due, in order. Index: perdure_instance_slots. */
export const FIND_CONTINUING = `
select ${CLAIMED_COLUMNS} from perdure_instance
where ${IN_LINE[LineKind.slots]} and class = 5 and available_at <= ?
order by available_at, ref
limit ?`;

/** When the first of those that have begun is due. Index: perdure_instance_slots. */
export const NEXT_IN_LINE = `
select available_at from perdure_instance
where ${IN_LINE[LineKind.slots]} and class = 5 and available_at is not null
order by available_at
limit 1`;

/**
 * Those that may start, in order, without those of rates that are used up, down to some depth.
 * Index: perdure_instance_slots or perdure_instance_starts.
 */
export function findStarts(kind: LineKind): string {
  return `
select ref, rate_key from (
  select ref, rate_key, available_at from perdure_instance
  where ${IN_LINE[kind]} and class = 6 and available_at is not null
  order by available_at, ref
  limit ?
)
where rate_key is null or rate_key not in (select value from json_each(?))
order by available_at, ref
limit ?`;
}

/** What a claim tells of one. Index: the primary key. */
export const FIND_CANDIDATE = `select ${CLAIMED_COLUMNS}, rate_key from perdure_instance where ref = ?`;

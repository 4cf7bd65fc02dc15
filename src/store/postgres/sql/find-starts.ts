import { LineKind } from "../../lines/line-records.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";

/**
 * Those in a line that may start, in order, without those of rates that are used up, down to some depth.
 * Index: instance_slots or instance_starts.
 */
export function findStarts(schema: SchemaPrefix, kind: LineKind): Statement {
  const inLine = kind === LineKind.slots ? "work.slot_key = $1" : "work.rate_key = $1 and work.slot_key is null";
  return {
    name: `find_starts_of_${kind === LineKind.slots ? "slots" : "rates"}`,
    planOnce: true,
    text: `
select candidate.ref, candidate.rate_key
from (
  select work.ref, work.rate_key, work.available_at from ${schema}instance as work
  where ${inLine} and work.class = 6 and work.available_at is not null
  order by work.available_at, work.ref
  limit $2
) as candidate
where candidate.rate_key is null or candidate.rate_key <> all ($3::text[])
order by candidate.available_at, candidate.ref
limit $4`,
  };
}

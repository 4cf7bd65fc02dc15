/**
 * How many rows of each lane are due, and how many are due later, each up to `?3`, and the first of them. `?4` has the lanes.
 * Index: perdure_hook_due or perdure_instance_due, and no row.
 */
export function countLanes(table: "perdure_hook" | "perdure_instance"): string {
  const inLane = `from ${table} indexed by ${table}_due where namespace = ?1 and class = lane.value and available_at`;
  return `
select lane.value as class,
  (select count(*) from (select 1 ${inLane} <= ?2 limit ?3)) as due,
  (select count(*) from (select 1 ${inLane} > ?2 limit ?3)) as later,
  (select available_at ${inLane} is not null order by available_at limit 1) as first
from json_each(?4) as lane`;
}

/** How many dead letters there are, up to `?2`. Index: perdure_hook_failed. */
export const COUNT_DEAD_LETTERS = `
select count(*) as count from (
  select 1 from perdure_hook indexed by perdure_hook_failed
  where namespace = ?1 and available_at is null and error is not null limit ?2
)`;

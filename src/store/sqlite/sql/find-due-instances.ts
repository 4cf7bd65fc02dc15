/** What is due in one lane, the oldest first. Index: perdure_instance_due; sleeping rows are never read. */
export const FIND_DUE_INSTANCES = `
select namespace, name, id, ref, run, class, lock, params, created_at, recoveries, wakes, paused, schedule,
  started_at is not null or wakes > 0 as begun,
  available_at as due_at
from perdure_instance
where namespace = ? and class = ? and available_at <= ? and name in (select value from json_each(?))
order by available_at, ref
limit ?`;

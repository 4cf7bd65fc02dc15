const findDueHooks = (condition: string) => `
select namespace, id, lock, confirmed, name, key, own_id, attempts, recoveries, triggers, payload, retries, trace, created_at,
  last_attempt_at as previous_attempt_at, available_at as due_at
from perdure_hook
where namespace = ? and class = ? and available_at <= ? and name in (select value from json_each(?))${condition}
order by available_at, id
limit ?`;

/** What is due in one lane, the oldest first. Index: perdure_hook_due; sleeping rows are never read. */
export const FIND_DUE_HOOKS: string = findDueHooks("");

/** The same of what wasn't lost before. */
export const FIND_LOST_HOOKS: string = findDueHooks(" and recoveries = 0");

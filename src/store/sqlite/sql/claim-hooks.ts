/** All that was found in one namespace. Index: the primary key. */
export const CLAIM_HOOKS = `
update perdure_hook set
  lock = ?, class = 2, available_at = ?, attempts = attempts + 1, recoveries = recoveries + (lock is not null), last_attempt_at = ?
where namespace = ? and id in (select value from json_each(?))`;

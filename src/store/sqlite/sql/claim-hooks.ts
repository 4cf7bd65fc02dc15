/**
 * All that was found in one namespace. One that is taken over counts the loss of its owner only if that had written that it begins; of
 * others the new owner decides. Index: the primary key.
 */
export const CLAIM_HOOKS = `
update perdure_hook set
  lock = ?, class = 2, available_at = ?,
  attempts = attempts + (lock is null or confirmed), recoveries = recoveries + (lock is not null and confirmed),
  confirmed = 0, last_attempt_at = ?
where namespace = ? and id in (select value from json_each(?))`;

import { WorkClass } from "../../queue/work-class.ts";

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

/**
 * All that was found in one namespace. One that is taken over counts the loss of its owner only if that had written that it begins; of
 * others the new owner decides. Index: the primary key.
 */
export const CLAIM_HOOKS = `
update perdure_hook set
  lock = ?, class = ${WorkClass.leased}, available_at = ?,
  attempts = attempts + (lock is null or confirmed), recoveries = recoveries + (lock is not null and confirmed),
  confirmed = 0, last_attempt_at = ?
where namespace = ? and id in (select value from json_each(?))`;

/** Extends a lease for its owner only. Index: the primary key. */
export const RENEW_HOOK = `update perdure_hook set available_at = ? where namespace = ? and id = ? and lock = ?`;

/** Writes how often a hook was tried, and whether its attempt begins, for its owner only. Index: the primary key. */
export const COUNT_HOOK = `
update perdure_hook set attempts = ?, recoveries = ?, confirmed = ? where namespace = ? and id = ? and lock = ?`;

export const RESULT = `case when available_at is not null then 'pending' when error is not null then 'failed' else 'completed' end`;

const again = "next_at is not null";

/**
 * All other outcomes: `:kind` is completed, retry, failed or released. A trigger that was stored beside the running hook makes
 * it pending again instead. `:delay` is how long to wait before it is due again, and how long to keep what is completed.
 * Index: the primary key.
 */
export const SETTLE_HOOK = `
update perdure_hook set
  lock = null,
  class = case when ${again} then ${WorkClass.fresh} when ?1 = 'released' and recoveries > 0 then ${WorkClass.leased} else ${WorkClass.continuing} end,
  available_at = case when ${again} then max(next_at, ?2) when ?1 = 'retry' then ?2 + ?3 when ?1 = 'released' then ?2 + coalesce(?3, 0) end,
  recoveries = case when ?1 = 'released' and not ${again} then recoveries else 0 end,
  attempts = case when ${again} then 0 when ?1 = 'released' then attempts - 1 else attempts end,
  triggers = triggers + next_triggers,
  payload = case when ${again} then next_payload else payload end,
  retries = case when ${again} then next_retries else retries end,
  trace = case when ${again} then next_trace else trace end,
  next_at = null, next_payload = null, next_retries = null, next_trace = null, next_triggers = 0,
  error = case when ${again} or ?1 = 'completed' then null when ?1 = 'released' then error else ?4 end,
  finished_at = case when not ${again} and ?1 in ('completed', 'failed') then ?2 end,
  purge_at = case when not ${again} and ?1 = 'completed' then ?2 + ?3 end
where namespace = ?5 and id = ?6 and lock = ?7
returning ${RESULT} as result`;

/** Completed hooks of one owner that nobody wants kept, and that nothing was triggered beside. Index: the primary key. */
export const DELETE_COMPLETED_HOOKS = `
delete from perdure_hook
where namespace = ? and id in (select value from json_each(?)) and lock = ? and next_at is null
returning id`;

/** Who owns a row, or what it became. Index: the primary key. */
export const FIND_SETTLED_HOOK = `select lock, ${RESULT} as result from perdure_hook where namespace = ? and id = ?`;

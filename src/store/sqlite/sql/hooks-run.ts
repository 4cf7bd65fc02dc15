import { WorkClass } from "../../queue/work-class.ts";

/** An owner was lost that may have begun, and whose loss isn't counted yet. */
const IN_DOUBT = "(in_doubt or lock is not null and not confirmed)";

const findDueHooks = (condition: string) => `
select namespace, id, lock, confirmed, ${IN_DOUBT} as in_doubt, name, key, own_id, attempts, recoveries, triggers, payload, retries, trace, created_at, line_key,
  last_attempt_at as previous_attempt_at, available_at as due_at
from perdure_hook
where namespace = ? and class = ? and available_at <= ? and name in (select value from json_each(?))${condition}
order by available_at, id
limit ?`;

/** The due hooks of one lane, oldest first. Index: perdure_hook_due; hooks that aren't due are never read. */
export const FIND_DUE_HOOKS: string = findDueHooks("");

/** The same, only hooks that have not lost an owner before. Index: perdure_hook_due. */
export const FIND_LOST_HOOKS: string = findDueHooks(" and recoveries = 0");

/**
 * Claims the hooks that were found in one namespace. A takeover counts as a recovery only if the lost owner had confirmed that
 * its attempt began; otherwise that is in doubt, and the new owner decides whether to count it. Index: the primary key.
 */
export const CLAIM_HOOKS = `
update perdure_hook set
  lock = ?, class = ${WorkClass.leased}, available_at = ?,
  attempts = attempts + not ${IN_DOUBT}, recoveries = recoveries + (lock is not null and confirmed),
  confirmed = 0, in_doubt = ${IN_DOUBT}, last_attempt_at = ?
where namespace = ? and id in (select value from json_each(?))`;

/** Extends a lease, for its owner only. Index: the primary key. */
export const RENEW_HOOK = `update perdure_hook set available_at = ? where namespace = ? and id = ? and lock = ?`;

/** Writes a hook's attempts and recoveries and whether the attempt begins, for its owner only. Index: the primary key. */
export const COUNT_HOOK = `
update perdure_hook set attempts = ?, recoveries = ?, confirmed = ?, in_doubt = 0 where namespace = ? and id = ? and lock = ?`;

const RESULT = `case when available_at is not null then 'pending' when error is not null then 'failed' else 'completed' end`;

const again = "next_at is not null";

/**
 * Writes every outcome that doesn't delete the hook: ?1 is completed, retry, failed or released, and ?2 the time. A trigger
 * that arrived while the hook was running makes it pending again instead. ?3 is the delay until the hook is due again, or the
 * retention of a completed one; ?4 is the error. Index: the primary key.
 */
export const SETTLE_HOOK = `
update perdure_hook set
  lock = null,
  class = case when ${again} then iif(line_key is null, ${WorkClass.fresh}, ${WorkClass.lineFresh})
    when ?1 = 'released' and (recoveries > 0 or in_doubt) then ${WorkClass.leased} else iif(line_key is null, ${WorkClass.continuing}, ${WorkClass.lineContinuing}) end,
  available_at = case when ${again} then max(next_at, ?2) when ?1 = 'retry' then ?2 + ?3 when ?1 = 'released' then ?2 + coalesce(?3, 0) end,
  recoveries = case when ?1 = 'released' and not ${again} then recoveries else 0 end,
  attempts = case when ${again} then 0 when ?1 = 'released' then attempts - not in_doubt else attempts end,
  in_doubt = in_doubt and ?1 = 'released' and not ${again},
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

/** Deletes completed hooks of one owner, except those that were triggered again while they ran. Index: the primary key. */
export const DELETE_COMPLETED_HOOKS = `
delete from perdure_hook
where namespace = ? and id in (select value from json_each(?)) and lock = ? and next_at is null
returning id`;

/** The owner's token of a hook, and the result that a settlement would have given. Index: the primary key. */
export const FIND_SETTLED_HOOK = `select lock, ${RESULT} as result from perdure_hook where namespace = ? and id = ?`;

import { RESULT } from "./settle-result.ts";

const again = "next_at is not null";

/**
 * All other outcomes: `:kind` is completed, retry, failed or released. A trigger that was stored beside the running hook makes
 * it pending again instead. `:delay` is how long to wait before it is due again, and how long to keep what is completed.
 * Index: the primary key.
 */
export const SETTLE_HOOK = `
update perdure_hook set
  lock = null,
  class = case when ${again} then 1 when ?1 = 'released' and recoveries > 0 then 2 else 0 end,
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

import { RESULT } from "./settle-result.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";
import { batch, inLockingOrder, isRowOf, NOW } from "./statement.ts";

/**
 * All other outcomes. Each column is decided on the newest version of the row, so a trigger that was stored beside a running
 * hook up to the last moment makes it pending again instead. `delay_ms` is how long to wait before it is due again, and how
 * long to keep what is completed. Index: hook_pkey.
 */
export function settleHooks(schema: SchemaPrefix): Statement {
  const again = "hook.next_at is not null";
  const text = "text";
  const settlements = batch(2, { namespace: text, id: text, lock: text, kind: text, delay_ms: "bigint", error: text });
  return {
    name: "settle_hooks",
    text: `
update ${schema}hook as hook set
  lock = null,
  class = case when ${again} then 1 when item.kind = 'released' and hook.recoveries > 0 then 2 else 0 end,
  available_at = case
    when ${again} then greatest(hook.next_at, clock.now)
    when item.kind = 'retry' then clock.now + item.delay_ms
    when item.kind = 'released' then clock.now + coalesce(item.delay_ms, 0) end,
  recoveries = case when item.kind = 'released' and not ${again} then hook.recoveries else 0 end,
  attempts = case when ${again} then 0 when item.kind = 'released' then hook.attempts - 1 else hook.attempts end,
  triggers = hook.triggers + hook.next_triggers,
  payload = case when ${again} then hook.next_payload else hook.payload end,
  retries = case when ${again} then hook.next_retries else hook.retries end,
  trace = case when ${again} then hook.next_trace else hook.trace end,
  next_at = null, next_payload = null, next_retries = null, next_trace = null, next_triggers = 0,
  error = case when ${again} or item.kind = 'completed' then null when item.kind = 'released' then hook.error else item.error::json end,
  finished_at = case when not ${again} and item.kind in ('completed', 'failed') then clock.now end,
  purge_at = case when not ${again} and item.kind = 'completed' then clock.now + item.delay_ms end
from (select ${NOW} as now) as clock
cross join ${inLockingOrder(schema, settlements)} as item
where ${isRowOf("hook", "item")} and hook.lock = any (array[item.lock])
returning hook.namespace, hook.id, ${RESULT} as result`,
  };
}

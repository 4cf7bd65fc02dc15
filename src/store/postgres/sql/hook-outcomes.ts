import { batch, inLockingOrder, isRowOf, NOW, type SchemaPrefix, type Statement } from "./statement.ts";

/** What an outcome has made of a hook. */
export const SETTLE_RESULT = `case when hook.available_at is not null then 'pending' when hook.error is not null then 'failed' else 'completed' end`;

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
returning hook.namespace, hook.id, ${SETTLE_RESULT} as result`,
  };
}

/** Who owns these rows, or what they became, as far as they are there. Index: hook_pkey. */
export function findSettledHooks(schema: SchemaPrefix): Statement {
  return {
    name: "find_settled_hooks",
    text: `
select item.namespace, item.id, settled.lock, settled.result
from ${batch(1, { namespace: "text", id: "text" })} as item
cross join lateral (
  select hook.lock, ${SETTLE_RESULT} as result from ${schema}hook as hook where ${isRowOf("hook", "item")} limit 1
) as settled`,
  };
}

/** Completed hooks that nobody wants kept, and that nothing was triggered beside up to this moment. Index: hook_pkey. */
export function deleteCompletedHooks(schema: SchemaPrefix, { keyed }: { keyed: boolean }): Statement {
  const leases = batch(1, { namespace: "text", id: "text", lock: "text" });
  return {
    name: keyed ? "delete_completed_keyed_hooks" : "delete_completed_hooks",
    ...(keyed ? {} : { planOnce: true }),
    text: `
delete from ${schema}hook as hook
using ${keyed ? inLockingOrder(schema, leases) : leases} as item
where ${isRowOf("hook", "item")} and hook.lock = item.lock and hook.next_at is null`,
  };
}

/** Settled as completed, though nobody wants them kept: what was triggered beside them was cancelled just then. Index: hook_pkey. */
export function deleteFinishedHooks(schema: SchemaPrefix): Statement {
  return {
    name: "delete_finished_hooks",
    text: `
delete from ${schema}hook as hook
using ${batch(1, { namespace: "text", id: "text" })} as item
where ${isRowOf("hook", "item")} and hook.available_at is null and hook.error is null`,
  };
}

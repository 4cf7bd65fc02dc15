import { WorkClass } from "../../../queue/work-class.ts";
import { batch, inLockingOrder, isRowOf, NOW, type SchemaPrefix, type Statement } from "../statement.ts";

/** The state that a settlement has given a hook. */
const SETTLE_RESULT = `case when hook.available_at is not null then 'pending' when hook.error is not null then 'failed' else 'completed' end`;

/**
 * All outcomes except those of `deleteCompletedHooks`. Each column is computed from the newest version of the row, so a trigger
 * that arrived up to the last moment makes the hook pending again instead. `delay_ms` is the time until a retry, or the time
 * for which a completed hook is kept. Index: hook_pkey.
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
  class = case when ${again} then case when hook.line_key is null then ${WorkClass.fresh} else ${WorkClass.lineFresh} end
    when item.kind = 'released' and (hook.recoveries > 0 or hook.in_doubt) then ${WorkClass.leased}
    when hook.line_key is null then ${WorkClass.continuing} else ${WorkClass.lineContinuing} end,
  available_at = case
    when ${again} then greatest(hook.next_at, clock.now)
    when item.kind = 'retry' then clock.now + item.delay_ms
    when item.kind = 'released' then clock.now + coalesce(item.delay_ms, 0) end,
  recoveries = case when item.kind = 'released' and not ${again} then hook.recoveries else 0 end,
  in_doubt = hook.in_doubt and item.kind = 'released' and not ${again},
  attempts = case when ${again} then 0 when item.kind = 'released' and not hook.in_doubt then hook.attempts - 1 else hook.attempts end,
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

/** The owners of these hooks, or the states that they were settled to. Missing rows are left out. Index: hook_pkey. */
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

/** Deletes completed hooks that aren't kept, unless a trigger has arrived for their keys meanwhile. Index: hook_pkey. */
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

/**
 * The same for hooks of one claim without keys: they share namespace and token, so they are looked up without a join, which
 * costs a third. PostgreSQL expects ten ids, so it prefers the index to any table of more than 64 pages: the table reserves
 * twice as many, see `reserveSpace`. Index: hook_pkey.
 */
export function deleteClaimedHooks(schema: SchemaPrefix): Statement {
  return {
    name: "delete_claimed_hooks",
    planOnce: true,
    text: `
delete from ${schema}hook as hook
where hook.namespace = $1::text and hook.id = any ($2::text[]) and hook.lock = $3::text and hook.next_at is null`,
  };
}

/**
 * Deletes hooks that were settled as completed but aren't kept: their next trigger was cancelled meanwhile. The
 * condition is written so that hook_completed doesn't serve it, which would read all kept hooks. Index: hook_pkey.
 */
export function deleteFinishedHooks(schema: SchemaPrefix): Statement {
  return {
    name: "delete_finished_hooks",
    text: `
delete from ${schema}hook as hook
using ${batch(1, { namespace: "text", id: "text" })} as item
where ${isRowOf("hook", "item")} and num_nulls(hook.available_at, hook.error) = 2`,
  };
}

/**
 * Takes a relay with everything of its group, in the order in which it was written, unless the relay has another owner by now.
 * Workers that take the same group lock it in that order: the second one finds nothing. Indexes: hook_pkey, hook_relay.
 */
export function takeRelays(schema: SchemaPrefix): Statement {
  return {
    name: "take_relays",
    text: `
with own as materialized (
  select hook.namespace, hook.id, hook.relay_group from ${schema}hook as hook
  where hook.namespace = $1::text and hook.id = $2::text and hook.lock = $3::text
),
found as materialized (
  select relay.* from own cross join lateral (
    select hook.id, hook.relay_order, hook.created_at, hook.payload::text as payload from ${schema}hook as hook
    where hook.namespace = own.namespace and hook.relay_group = own.relay_group and hook.available_at is not null
    order by hook.relay_order
    for update of hook
  ) as relay
),
alone as materialized (
  select hook.id, hook.relay_order, hook.created_at, hook.payload::text as payload from own
  join ${schema}hook as hook on hook.namespace = own.namespace and hook.id = own.id
  where own.relay_group is null
  for update of hook
),
taken as (
  delete from ${schema}hook as hook
  where hook.namespace = $1::text and hook.id = any (array(select id from found union all select id from alone))
  returning hook.id
)
select relay.created_at, relay.payload
from (select * from found union all select * from alone) as relay
where relay.id in (select id from taken)
order by relay.relay_order`,
  };
}

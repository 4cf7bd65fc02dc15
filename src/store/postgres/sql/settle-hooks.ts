import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";

/**
 * Completed hooks that have no key: nothing can have been triggered beside them, so they are deleted without a further look.
 * Index: hook_pkey.
 */
export function deleteCompletedHooks(schema: SchemaPrefix): Statement {
  return {
    name: "delete_completed_hooks",
    text: `
delete from ${schema}hook as hook
using unnest($1::text[], $2::text[], $3::text[]) as item(namespace, id, lock)
where hook.namespace = item.namespace and hook.id = item.id and hook.lock = item.lock`,
  };
}

/** Which of these rows somebody else owns by now. Index: hook_pkey. */
export function findForeignHooks(schema: SchemaPrefix): Statement {
  return {
    name: "find_foreign_hooks",
    text: `
select hook.namespace, hook.id, hook.lock
from unnest($1::text[], $2::text[]) as item(namespace, id)
join ${schema}hook as hook on hook.namespace = item.namespace and hook.id = item.id`,
  };
}

/**
 * All other outcomes. Each column is decided on the newest version of the row, so a trigger that was stored beside a running
 * hook up to the last moment makes it pending again instead. `delay_ms` is how long to wait before a retry, and how long to
 * keep what is completed. Index: hook_pkey.
 */
export function settleHooks(schema: SchemaPrefix): Statement {
  const again = "hook.next_at is not null";
  return {
    name: "settle_hooks",
    text: `
update ${schema}hook as hook set
  lock = null,
  class = case when ${again} then 1 when item.kind = 'released' and hook.recoveries > 0 then 2 else 0 end,
  available_at = case
    when ${again} then greatest(hook.next_at, clock.now)
    when item.kind = 'retry' then clock.now + item.delay_ms
    when item.kind = 'released' then clock.now end,
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
cross join unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[])
  as item(namespace, id, lock, kind, delay_ms, error)
where hook.namespace = item.namespace and hook.id = item.id and hook.lock = item.lock
returning hook.namespace, hook.id,
  case when hook.available_at is not null then 'pending' when hook.error is not null then 'failed' else 'completed' end as result`,
  };
}

/** Completed hooks with a key that nobody wants kept. They no longer hold their keys. Index: hook_pkey. */
export function deleteFinishedHooks(schema: SchemaPrefix): Statement {
  return {
    name: "delete_finished_hooks",
    text: `
delete from ${schema}hook as hook
using unnest($1::text[], $2::text[]) as item(namespace, id)
where hook.namespace = item.namespace and hook.id = item.id and hook.available_at is null and hook.error is null`,
  };
}

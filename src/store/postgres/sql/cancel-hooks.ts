import type { SchemaPrefix, Statement } from "./statement.ts";
import { isRowOf } from "./statement.ts";

/**
 * Pending hooks go; running ones lose the trigger that waits beside them. Which it is, is decided on the newest version of the
 * row: locked first, it can't be claimed or given back in between. Index: hook_pkey or hook_key.
 */
export function cancelHooks(schema: SchemaPrefix, by: "id" | "key"): Statement {
  const target =
    by === "id"
      ? "hook.namespace = $1 and hook.id = $2 and hook.available_at is not null"
      : "hook.namespace = $1 and hook.key = $2 and hook.name = $3 and hook.key is not null and hook.available_at is not null";
  return {
    name: `cancel_hooks_by_${by}`,
    text: `
with target as materialized (
  select hook.namespace, hook.id, hook.lock from ${schema}hook as hook where ${target} for update
),
cancelled as (
  delete from ${schema}hook as hook using target where ${isRowOf("hook", "target")} and target.lock is null returning hook.id
),
running as (
  update ${schema}hook as hook
  set next_at = null, next_payload = null, next_retries = null, next_trace = null, next_triggers = 0,
    latest_at = null
  from target
  where ${isRowOf("hook", "target")} and target.lock is not null
  returning hook.id
)
select id, true as cancelled from cancelled
union all
select id, false from running`,
  };
}

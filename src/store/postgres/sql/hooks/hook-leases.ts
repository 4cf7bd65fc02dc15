import { WorkClass } from "../../../queue/work-class.ts";
import { takeDue } from "../queue.ts";
import { batch, inLockingOrder, isRowOf, NOW, type SchemaPrefix, type Statement } from "../statement.ts";

/**
 * Claims due hooks and counts the attempts. A takeover counts the loss of the last owner only if that owner had confirmed that
 * it began; otherwise that is in doubt, and the new owner decides. Index: hook_due.
 */
export function claimHooks(schema: SchemaPrefix): Statement {
  const inDoubt = (row: string) => `(${row}.in_doubt or ${row}.lock is not null and not ${row}.confirmed)`;
  const was = `work.last_attempt_at as previous_attempt_at, ${inDoubt("work")} as in_doubt`;
  return {
    name: "claim_hooks",
    planOnce: true,
    text: `
with ${takeDue(schema, "hook", was)}
update ${schema}hook as hook set
  lock = $7,
  class = ${WorkClass.leased},
  available_at = clock.now + $8::bigint,
  attempts = hook.attempts + case when ${inDoubt("hook")} then 0 else 1 end,
  recoveries = hook.recoveries + case when hook.lock is not null and hook.confirmed then 1 else 0 end,
  confirmed = false,
  in_doubt = ${inDoubt("hook")},
  last_attempt_at = clock.now
from taken, clock
where hook.ctid = taken.ctid
returning hook.namespace, hook.id, hook.lock, hook.name, hook.key, hook.own_id, hook.attempts, hook.recoveries, hook.triggers,
  hook.payload::text as payload, hook.retries::text as retries, hook.trace::text as trace, hook.created_at, hook.line_key,
  taken.previous_attempt_at, taken.in_doubt, taken.due_at, taken.index, clock.now as claimed_at`,
  };
}

/** Extends leases, for their owners only: a row that was taken over or settled stays as it is. Index: hook_pkey. */
export function renewHooks(schema: SchemaPrefix): Statement {
  return {
    name: "renew_hooks",
    text: `
update ${schema}hook as hook set available_at = ${NOW} + $2::bigint
from ${inLockingOrder(schema, batch(3, { namespace: "text", id: "text", lock: "text" }))} as item
where ${isRowOf("hook", "item")} and hook.lock = any (array[item.lock])
returning hook.namespace, hook.id, hook.lock`,
  };
}

/** Writes the attempts and recoveries of hooks, and whether an attempt begins, for their owners only. Index: hook_pkey. */
export function countHooks(schema: SchemaPrefix): Statement {
  const columns = {
    namespace: "text",
    id: "text",
    lock: "text",
    attempts: "int",
    recoveries: "int",
    begins: "boolean",
  };
  return {
    name: "count_hooks",
    text: `
update ${schema}hook as hook set attempts = item.attempts, recoveries = item.recoveries, confirmed = item.begins,
  in_doubt = false
from ${inLockingOrder(schema, batch(1, columns))} as item
where ${isRowOf("hook", "item")} and hook.lock = any (array[item.lock])
returning hook.namespace, hook.id, hook.lock`,
  };
}

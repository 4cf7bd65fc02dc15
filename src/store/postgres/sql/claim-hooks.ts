import type { SchemaPrefix, Statement } from "./statement.ts";
import { takeDue } from "./take-due.ts";

/** Takes what is due, and counts the attempt. Index: hook_due. */
export function claimHooks(schema: SchemaPrefix): Statement {
  return {
    name: "claim_hooks",
    planOnce: true,
    text: `
with ${takeDue(schema, "hook", "work.last_attempt_at as previous_attempt_at")}
update ${schema}hook as hook set
  lock = $7,
  class = 2,
  available_at = clock.now + $8::bigint,
  attempts = hook.attempts + 1,
  recoveries = hook.recoveries + case when hook.lock is null then 0 else 1 end,
  last_attempt_at = clock.now
from taken, clock
where hook.ctid = taken.ctid
returning hook.namespace, hook.id, hook.lock, hook.name, hook.key, hook.own_id, hook.attempts, hook.recoveries, hook.triggers,
  hook.payload::text as payload, hook.retries::text as retries, hook.trace::text as trace, hook.created_at,
  taken.previous_attempt_at, taken.due_at, taken.place, clock.now as claimed_at`,
  };
}

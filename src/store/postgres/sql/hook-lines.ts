import { NOW, type SchemaPrefix, type Statement } from "./statement.ts";

/** Admits hooks with limits. Indexes: those that `admitHooksFunction` names. */
export function admitHooks(schema: SchemaPrefix): Statement {
  return {
    name: "admit_hooks",
    text: `
select hook.namespace, hook.id, hook.lock, hook.name, hook.key, hook.own_id, hook.attempts, hook.recoveries, hook.triggers,
  hook.payload::text as payload, hook.retries::text as retries, hook.trace::text as trace, hook.created_at, hook.line_key,
  admitted.previous_attempt_at, hook.in_doubt, admitted.due_at, admitted.claimed_at
from ${schema}admit_hooks(
  $1::bigint, $2::text, $3::text[], $4::integer[], $5::integer[], $6::bigint[], $7::integer, $8::text, $9::bigint, $10::text, $11::integer
) as admitted
cross join lateral (select (admitted.claimed).*) as hook`,
  };
}

/** Deletes some starts of hooks that count no more. Reads those of hooks only. Index: start_pkey. */
export function forgetHookStarts(schema: SchemaPrefix): Statement {
  return {
    name: "forget_hook_starts",
    slow: true,
    text: `
delete from ${schema}start as start
where start.ctid = any (array(
  select old.ctid from ${schema}start as old
  where old.key >= $2 and old.key < $3 and old.at <= ${NOW} - $4::bigint
  limit $5
  for update skip locked
))`,
  };
}

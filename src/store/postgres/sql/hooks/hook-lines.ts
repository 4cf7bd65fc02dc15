import { WorkClass } from "../../../queue/work-class.ts";
import { NOW, type SchemaPrefix, type Statement } from "../statement.ts";

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

/**
 * How many hooks come before some places ($2 to $4) in the line of a key ($1), how many of the key are leased, both up to a
 * number ($5), and the start that uses up the rate of a key ($6), as many before the latest ($7). Indexes: hook_line,
 * start_pkey.
 */
export function readHookLine(schema: SchemaPrefix): Statement {
  const member = `member.line_key = $1 and member.available_at is not null and member.class >= ${WorkClass.leased}`;
  return {
    name: "read_hook_line",
    text: `
select (
  select coalesce(sum(counted.ahead), 0) from unnest($2::integer[], $3::bigint[], $4::text[]) as place(class, available_at, id)
  cross join lateral (
    select count(*) as ahead from (
      select from ${schema}hook as member
      where ${member} and member.class = place.class and (member.available_at, member.id) < (place.available_at, place.id)
      order by member.available_at, member.id
      limit $5::bigint
    ) as found
  ) as counted
) as ahead, (
  select count(*) from (
    select from ${schema}hook as member where ${member} and member.class = ${WorkClass.leased}
    order by member.available_at, member.id
    limit $5::bigint
  ) as found
) as held, (
  select start.at from ${schema}start as start where start.key = $6 order by start.at desc limit 1 offset $7::bigint
) as started_at`,
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

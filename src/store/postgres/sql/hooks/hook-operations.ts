import type { HookSearch, HookStatus } from "../../../hooks/hook-records.ts";
import { WorkClass } from "../../../queue/work-class.ts";
import { batch, isRowOf, NOW, type SchemaPrefix, type Statement } from "../statement.ts";

/** A hook's status follows from its queue columns. */
const STATUS_CONDITIONS: Record<HookStatus, string> = {
  pending: "hook.available_at is not null and hook.lock is null",
  processing: "hook.available_at is not null and hook.lock is not null",
  failed: "hook.available_at is null and hook.error is not null",
  completed: "hook.available_at is null and hook.error is null",
};

const STATUS = `case ${Object.entries(STATUS_CONDITIONS)
  .map(([status, condition]) => `when ${condition} then '${status}'`)
  .join(" ")} end`;

const HOOK_RECORD = `hook.namespace, hook.id, hook.name, hook.key, ${STATUS} as status, hook.class, hook.lock, hook.attempts, hook.recoveries,
  hook.triggers, hook.payload::text as payload, hook.retries::text as retries, hook.error::text as error, hook.line_key, hook.rate_key, hook.created_at,
  hook.last_attempt_at, hook.available_at, hook.finished_at`;

/** One hook. Index: hook_pkey. */
export function getHook(schema: SchemaPrefix): Statement {
  return {
    name: "get_hook",
    text: `select ${HOOK_RECORD} from ${schema}hook as hook where hook.namespace = $1 and hook.id = $2`,
  };
}

/** One page in the order of ids. Index: hook_failed for dead letters, otherwise hook_pkey. */
export function listHooks(
  schema: SchemaPrefix,
  status: HookStatus | null,
  order: "oldest" | "newest",
  { paged }: { paged: boolean },
): Statement {
  const [comparison, direction] = order === "oldest" ? [">", "asc"] : ["<", "desc"];
  return {
    name: `list_${status ?? "all"}_hooks_${order}${paged ? "_after" : ""}`,
    slow: true,
    text: `
select ${HOOK_RECORD} from ${schema}hook as hook
where hook.namespace = $1
  and ${paged ? `hook.id ${comparison} $2::text` : "$2::text is null"}
  ${status === null ? "" : `and ${STATUS_CONDITIONS[status]}`}
order by hook.id ${direction}
limit $3`,
  };
}

/** Hooks by their ids. Index: hook_pkey. */
export function findHooks(schema: SchemaPrefix): Statement {
  return {
    name: "find_hooks",
    text: `
select ${HOOK_RECORD}
from ${batch(2, { id: "text" }, ", $1::text as namespace")} as item
cross join lateral (select * from ${schema}hook as hook where ${isRowOf("hook", "item")} limit 1) as hook`,
  };
}

/**
 * Compares a limited number ($2) of hooks, in the order of ids, after an id ($3) and in a range of ids ($4 and $5): with a
 * status ($6), a name ($7) and times ($8 and $9). The limit is hidden from the planner, so that it expects to need only the
 * first rows in order, whatever its statistics say. Indexes: hook_pkey; hook_failed for dead letters.
 */
export function searchHooks(
  schema: SchemaPrefix,
  { order, after, idPrefix, status, errors }: Pick<HookSearch, "order" | "after" | "idPrefix" | "status" | "errors">,
): Statement {
  const [comparison, direction] = order === "oldest" ? [">", "asc"] : ["<", "desc"];
  const failed = status === "failed";
  const shape = `${failed ? "failed_" : ""}${order}${after === null ? "" : "_after"}${idPrefix === null ? "" : "_prefix"}`;
  return {
    name: `search_hooks_${shape}${errors ? "_errors" : ""}`,
    slow: true,
    text: `
with page as materialized (
  select hook.namespace, hook.id
  from ${schema}hook as hook
  where hook.namespace = $1
    and ${after === null ? "$3::text is null" : `hook.id ${comparison} $3::text`}
    and ${idPrefix === null ? "$4::text is null and $5::text is null" : "hook.id >= $4::text and hook.id < $5::text"}
    ${failed ? `and ${STATUS_CONDITIONS.failed}` : ""}
  order by hook.id ${direction}
  limit (select $2::bigint)
)
select hook.namespace, hook.id, hook.name, hook.created_at, hook.finished_at, compared.matches,
  case when compared.matches then ${errors ? "hook.error::text" : "null"} end as error
from page
cross join lateral (select * from ${schema}hook as hook where ${isRowOf("hook", "page")} limit 1) as hook
cross join lateral (
  select ($6::text is null or ${STATUS} = $6) and ($7::text is null or hook.name = $7)
    and ($8::bigint is null or hook.created_at >= $8) and ($9::bigint is null or hook.created_at < $9) as matches
) as compared
order by page.id ${direction}`,
  };
}

/** Reads every hook of the namespace: for operators, not for loops. Index: hook_pkey. */
export function hookStatistics(schema: SchemaPrefix): Statement {
  return {
    name: "hook_statistics",
    slow: true,
    text: `
select
  count(*) filter (where ${STATUS_CONDITIONS.pending}) as pending,
  count(*) filter (where ${STATUS_CONDITIONS.pending} and hook.available_at <= ${NOW}) as due,
  count(*) filter (where ${STATUS_CONDITIONS.processing}) as processing,
  count(*) filter (where ${STATUS_CONDITIONS.failed}) as failed,
  count(*) filter (where ${STATUS_CONDITIONS.completed}) as completed,
  ${NOW} - min(hook.available_at) filter (where ${STATUS_CONDITIONS.pending} and hook.available_at <= ${NOW}) as oldest_due_ms
from ${schema}hook as hook
where hook.namespace = $2`,
  };
}

/**
 * Deletes a pending hook. A running hook only loses its next trigger. The row is locked first, so that it can't be claimed or
 * released between the decision and the write. A key is written as a range with an order, which only hook_key has: with an
 * equality, PostgreSQL may read the namespace in the order of ids if it believes that the table is empty. Indexes: hook_pkey,
 * and hook_key for a key.
 */
export function cancelHooks(schema: SchemaPrefix, by: "id" | "key"): Statement {
  const target =
    by === "id"
      ? "hook.namespace = $1 and hook.id = $2 and hook.available_at is not null"
      : `hook.namespace = $1 and hook.name = $3 and hook.key >= $2 and hook.key <= $2 and hook.available_at is not null
    order by hook.key limit 1`;
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

/** Makes dead letters due again, with fresh attempts, unless another hook has their key. Indexes: hook_failed, hook_key. */
export function redriveHooks(schema: SchemaPrefix): Statement {
  return {
    name: "redrive_hooks",
    text: `
update ${schema}hook as hook set
  available_at = ${NOW}, class = case when hook.line_key is null then ${WorkClass.continuing} else ${WorkClass.lineContinuing} end, attempts = 0, recoveries = 0, finished_at = null, latest_at = null
where hook.namespace = $2 and hook.id = any ($3::text[]) and ${STATUS_CONDITIONS.failed}
  and not exists (
    select from ${schema}hook as holder
    where holder.namespace = hook.namespace and holder.name = hook.name and holder.key = hook.key
      and holder.key is not null and holder.available_at is not null
  )
returning hook.id`,
  };
}

/** Deletes finished hooks. Index: hook_pkey. */
export function discardHooks(schema: SchemaPrefix): Statement {
  return {
    name: "discard_hooks",
    text: `
delete from ${schema}hook as hook
where hook.namespace = $1 and hook.id = any ($2::text[]) and hook.available_at is null
returning hook.id`,
  };
}

/** Deletes a limited number of completed hooks that were kept for long enough. Index: hook_completed. */
export function purgeHooks(schema: SchemaPrefix): Statement {
  return {
    name: "purge_hooks",
    text: `
delete from ${schema}hook as hook
where hook.ctid = any (array(
  select old.ctid from ${schema}hook as old
  where old.namespace = $2 and old.available_at is null and old.error is null and old.purge_at <= ${NOW}
  order by old.purge_at
  limit $3
  for update skip locked
))`,
  };
}

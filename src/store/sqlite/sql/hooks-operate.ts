import type { HookStatus } from "../../hooks/hook-records.ts";
import { WorkClass } from "../../queue/work-class.ts";

/** A hook's status isn't stored: it follows from the queue columns. */
const STATUS_CONDITIONS: Record<HookStatus, string> = {
  pending: "available_at is not null and lock is null",
  processing: "available_at is not null and lock is not null",
  failed: "available_at is null and error is not null",
  completed: "available_at is null and error is null",
};

const STATUS = `case ${Object.entries(STATUS_CONDITIONS)
  .map(([status, condition]) => `when ${condition} then '${status}'`)
  .join(" ")} end`;

const HOOK_RECORD = `namespace, id, name, key, ${STATUS} as status, class, lock, attempts, recoveries, triggers, payload, retries, error, line_key, rate_key, created_at,
  last_attempt_at, available_at, finished_at`;

/** One hook as an operator sees it. Index: the primary key. */
export const GET_HOOK = `select ${HOOK_RECORD} from perdure_hook where namespace = ? and id = ?`;

/** One page of hooks in the order of their ids. Index: perdure_hook_failed for dead letters, otherwise the primary key. */
export function listHooks(
  status: HookStatus | null,
  order: "oldest" | "newest",
  { paged }: { paged: boolean },
): string {
  const [comparison, direction] = order === "oldest" ? [">", "asc"] : ["<", "desc"];
  return `
select ${HOOK_RECORD} from perdure_hook ${status === "failed" ? "indexed by perdure_hook_failed" : ""}
where namespace = ?1
  ${paged ? `and id ${comparison} ?3` : ""}
  ${status === null ? "" : `and ${STATUS_CONDITIONS[status]}`}
order by id ${direction}
limit ?2`;
}

interface SearchShape {
  readonly order: "oldest" | "newest";
  readonly paged: boolean;
  readonly prefixed: boolean;
  readonly failed: boolean;
}

/**
 * Compares a limited number of hooks, in the order of ids, after an id (?3) and in a range of ids (?4 and ?5): with a status
 * (?6), a name (?7) and times (?8 and ?9). Index: perdure_hook_failed for dead letters, otherwise the primary key.
 */
export function searchHooks({ order, paged, prefixed, failed }: SearchShape): string {
  const [comparison, direction] = order === "oldest" ? [">", "asc"] : ["<", "desc"];
  return `
select namespace, id, name, created_at, finished_at, matches, case when matches and ?10 then error end as error from (
  select namespace, id, name, created_at, finished_at, error,
    (?6 is null or ${STATUS} = ?6) and (?7 is null or name = ?7)
    and (?8 is null or created_at >= ?8) and (?9 is null or created_at < ?9) as matches
  from perdure_hook ${failed ? "indexed by perdure_hook_failed" : ""}
  where namespace = ?1
    and ${paged ? `id ${comparison} ?3` : "?3 is null"}
    and ${prefixed ? "id >= ?4 and id < ?5" : "?4 is null and ?5 is null"}
    ${failed ? `and ${STATUS_CONDITIONS.failed}` : ""}
  order by id ${direction}
  limit ?2
)
order by id ${direction}`;
}

/** Counts per status. Reads every hook of the namespace, so it is for operators, not for loops. Index: the primary key. */
export const HOOK_STATISTICS = `
select
  count(*) filter (where ${STATUS_CONDITIONS.pending}) as pending,
  count(*) filter (where ${STATUS_CONDITIONS.pending} and available_at <= ?1) as due,
  count(*) filter (where ${STATUS_CONDITIONS.processing}) as processing,
  count(*) filter (where ${STATUS_CONDITIONS.failed}) as failed,
  count(*) filter (where ${STATUS_CONDITIONS.completed}) as completed,
  ?1 - min(available_at) filter (where ${STATUS_CONDITIONS.pending} and available_at <= ?1) as oldest_due_ms
from perdure_hook
where namespace = ?2`;

/**
 * Makes a dead letter due with fresh attempts, unless another hook holds its key. Indexes: the primary key, perdure_hook_key.
 */
export const REDRIVE_HOOK = `
update perdure_hook as hook set available_at = ?, class = iif(line_key is null, ${WorkClass.continuing}, ${WorkClass.lineContinuing}), attempts = 0, recoveries = 0, finished_at = null, latest_at = null
where namespace = ? and id = ? and ${STATUS_CONDITIONS.failed}
  and not exists (
    select 1 from perdure_hook as holder
    where holder.namespace = hook.namespace and holder.name = hook.name and holder.key = hook.key
      and holder.key is not null and holder.available_at is not null
  )`;

/** Deletes a finished hook. Index: the primary key. */
export const DISCARD_HOOK = `delete from perdure_hook where namespace = ? and id = ? and available_at is null`;

/** Deletes a limited number of completed hooks whose retention is over. Indexes: perdure_hook_completed, the primary key. */
export const PURGE_HOOKS = `
delete from perdure_hook where namespace = ?1 and id in (
  select id from perdure_hook
  where namespace = ?1 and available_at is null and error is null and purge_at <= ?2
  order by purge_at
  limit ?3
)`;

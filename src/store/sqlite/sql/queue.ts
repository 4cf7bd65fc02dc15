import { NO_VERSION } from "../../instances/instance-versions.ts";
import { WorkClass } from "../../queue/work-class.ts";

/** Tables of claimable rows. The index of each that serves claims has its name with the suffix `_due`. */
type QueueTable = "perdure_hook" | "perdure_instance";

/** `versionName` of an instance, in SQL. */
export const VERSION_NAME = `iif(version = ${NO_VERSION}, name, name || '@' || version)`;

/**
 * When the earliest row of some lanes is due. `?2` has the names of each namespace: one short list for all lanes, which SQLite
 * builds once. `unclaimed`: also which names have due rows, see `dueNames`. Index: perdure_hook_due or perdure_instance_due,
 * the first entry of each lane.
 */
export function nextWake(table: QueueTable, { unclaimed }: { readonly unclaimed: boolean }): string {
  return `
select min(earliest) as available_at${unclaimed ? `, (${DUE_NAMES}) as unclaimed` : ""} from (
  select (
    select work.available_at from ${table} as work
    where work.namespace = lane.value ->> 'namespace' and work.class = lane.value ->> 'class' and work.available_at is not null
      and ${table === "perdure_hook" ? "(+work.namespace, work.name)" : `(+work.namespace, ${VERSION_NAME})`} in (
        select scope.value ->> 'namespace', name.value from json_each(?2) as scope, json_each(scope.value, '$.names') as name
      )
    order by work.available_at
    limit 1
  ) as earliest
  from json_each(?1) as lane
)`;
}

/** The due rows at the beginning of all lanes of a table, in the namespaces of ?3, at the time ?4, as deep as ?5. */
function dueRows(table: QueueTable): string {
  const kind = table === "perdure_hook" ? "hook" : "instance";
  return `
    select '${kind}' as kind, space.value as namespace, due.value ->> 0 as name, due.value ->> 1 as since
    from json_each(?3) as space, json_each('${JSON.stringify(Object.values(WorkClass))}') as lane, json_each((
      select json_group_array(json_array(name, since)) from (
        select work.name, iif(work.available_at < 0, work.created_at, work.available_at) as since from ${table} as work indexed by ${table}_due
        where work.namespace = space.value and work.class = lane.value and ?4 >= work.available_at
        order by work.available_at
        limit ?5
      )
    )) as due`;
}

const DUE_NAMES = `
  select json_group_array(json_array(kind, namespace, name, amount, since)) from (
    select kind, namespace, name, count(*) as amount, min(since) as since
    from (${dueRows("perdure_hook")} union all ${dueRows("perdure_instance")})
    group by kind, namespace, name
  )`;

/** The tokens of all leases. Index: perdure_hook_due or perdure_instance_due, its leased lanes. */
export function leaseTokens(table: QueueTable): string {
  return `
select distinct lock from ${table} indexed by ${table}_due
where namespace in (select value from json_each(?)) and class = ${WorkClass.leased} and available_at is not null and lock is not null`;
}

/** The rows that are claimed with one of these tokens. Index: perdure_hook_due or perdure_instance_due, its leased lanes. */
export function findLeased(table: QueueTable): string {
  const columns = table === "perdure_hook" ? "namespace, id, lock" : "namespace, name, id, ref, run, lock";
  return `
select ${columns} from ${table} indexed by ${table}_due
where namespace in (select value from json_each(?)) and class = ${WorkClass.leased} and available_at is not null
  and lock in (select value from json_each(?))`;
}

/** Ends the leases of owners that are known to be gone. Index: perdure_hook_due or perdure_instance_due, its leased lanes. */
export function expireLeases(table: QueueTable): string {
  return `
update ${table} indexed by ${table}_due set available_at = ?
where namespace in (select value from json_each(?)) and class = ${WorkClass.leased} and available_at is not null
  and lock in (select value from json_each(?))`;
}

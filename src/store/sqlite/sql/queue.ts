import { NO_VERSION } from "../../instances/instance-versions.ts";
import { WorkClass } from "../../queue/work-class.ts";

/** Tables of claimable rows. The index of each that serves claims has its name with the suffix `_due`. */
type QueueTable = "perdure_hook" | "perdure_instance";

/** `versionName` of an instance, in SQL. */
export const VERSION_NAME = `iif(version = ${NO_VERSION}, name, name || '@' || version)`;

/**
 * When the earliest row of some lanes is due. `?2` has the names of each namespace: one short list for all lanes, which SQLite builds
 * once. Index: perdure_hook_due or perdure_instance_due, the first entry of each lane.
 */
export function nextWake(table: QueueTable): string {
  return `
select min(earliest) as available_at from (
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

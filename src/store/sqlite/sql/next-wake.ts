import type { QueueTable } from "./queue-table.ts";

/**
 * When the earliest row of these lanes is due. The names are one list for all lanes, so that it is made once, and not for each
 * row. Index: perdure_hook_due or perdure_instance_due gives the first entry of each lane.
 */
export function nextWake(table: QueueTable): string {
  return `
select min(earliest) as available_at from (
  select (
    select work.available_at from ${table} as work
    where work.namespace = lane.value ->> 'namespace' and work.class = lane.value ->> 'class' and work.available_at is not null
      and (+work.namespace, work.name) in (
        select scope.value ->> 'namespace', name.value from json_each(?1) as scope, json_each(scope.value, '$.names') as name
      )
    order by work.available_at
    limit 1
  ) as earliest
  from json_each(?1) as lane
)`;
}

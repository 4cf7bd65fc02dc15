/**
 * When the earliest row of these lanes is due. The names are one list for all lanes, so that it is made once, and not for each
 * row. Index: perdure_hook_due gives the first entry of each lane.
 */
export const NEXT_HOOK_WAKE = `
select min(earliest) as available_at from (
  select (
    select hook.available_at from perdure_hook as hook
    where hook.namespace = lane.value ->> 'namespace' and hook.class = lane.value ->> 'class' and hook.available_at is not null
      and (+hook.namespace, hook.name) in (
        select scope.value ->> 'namespace', name.value from json_each(?1) as scope, json_each(scope.value, '$.names') as name
      )
    order by hook.available_at
    limit 1
  ) as earliest
  from json_each(?1) as lane
)`;

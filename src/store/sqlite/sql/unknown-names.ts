/**
 * Workflows that somebody has started and that we don't know. The names are found one by one, so that it doesn't matter how many
 * instances each has. Index: perdure_instance_id.
 */
export const UNKNOWN_NAMES = `
with recursive workflow(name) as (
  select min(name) from perdure_instance where namespace = ?1
  union all
  select (select min(instance.name) from perdure_instance as instance where instance.namespace = ?1 and instance.name > workflow.name)
  from workflow
  where workflow.name is not null
)
select name from workflow
where name is not null
  and name not in (select value from json_each(?2))
  and exists (
    select 1 from perdure_instance as instance
    where instance.namespace = ?1 and instance.name = workflow.name and instance.outcome is null and not instance.paused
  )
limit 20`;

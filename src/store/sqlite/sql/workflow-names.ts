/**
 * The names of all workflows that have instances in a namespace (?1), found one by one, so that it doesn't matter how many
 * instances each has; the last one is null. Begins a statement. Index: perdure_instance_id.
 */
export const WITH_WORKFLOW_NAMES = `with recursive workflow(name) as (
  select min(name) from perdure_instance where namespace = ?1
  union all
  select (select min(instance.name) from perdure_instance as instance where instance.namespace = ?1 and instance.name > workflow.name)
  from workflow
  where workflow.name is not null
)`;

export const WORKFLOW_NAMES = `${WITH_WORKFLOW_NAMES}
select name from workflow where name is not null`;

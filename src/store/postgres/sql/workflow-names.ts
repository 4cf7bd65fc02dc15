import type { SchemaPrefix } from "./statement.ts";

/**
 * The names of all workflows that have instances in a namespace ($1), found one by one, so that it doesn't matter how many
 * instances each has; the last one is null. Begins a statement. Index: instance_id.
 */
export function workflowNames(schema: SchemaPrefix): string {
  const next = (after: string) => `(
    select instance.name from ${schema}instance as instance where instance.namespace = $1 ${after} order by instance.name limit 1
  )`;
  return `recursive workflow(name) as (
  select ${next("")}
  union all
  select ${next("and instance.name > workflow.name")} from workflow where workflow.name is not null
)`;
}

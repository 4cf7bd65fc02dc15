import type { SchemaPrefix, Statement } from "./statement.ts";

/**
 * Workflows that somebody has started and that we don't know. The names are found one by one, so that it doesn't matter how many
 * instances each has. Index: instance_id.
 */
export function unknownNames(schema: SchemaPrefix): Statement {
  const next = (after: string) => `(
    select instance.name from ${schema}instance as instance where instance.namespace = $1 ${after} order by instance.name limit 1
  )`;
  return {
    name: "unknown_names",
    slow: true,
    text: `
with recursive workflow(name) as (
  select ${next("")}
  union all
  select ${next("and instance.name > workflow.name")} from workflow where workflow.name is not null
)
select workflow.name from workflow
where workflow.name <> all ($2::text[])
  and exists (
    select from ${schema}instance as instance
    where instance.namespace = $1 and instance.name = workflow.name and instance.outcome is null and not instance.paused
  )
limit 20`,
  };
}

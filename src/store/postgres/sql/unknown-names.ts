import type { SchemaPrefix, Statement } from "./statement.ts";
import { inCatalogOrder } from "./statement.ts";
import { workflowNames } from "./workflow-names.ts";

/**
 * Workflows that somebody has started and that we don't know. Indexes: instance_id, instance_status.
 */
export function unknownNames(schema: SchemaPrefix): Statement {
  const inOrder = inCatalogOrder(schema);
  return {
    name: "unknown_names",
    slow: true,
    text: `
with ${workflowNames(schema)}
select workflow.name from workflow
where workflow.name <> all ($2::text[])
  and exists (
    select from ${schema}instance as instance
    where instance.namespace = $1 ${inOrder} and instance.name = workflow.name ${inOrder}
      and instance.status ${inOrder} in ('queued', 'running', 'waiting')
  )
limit 20`,
  };
}

import type { SchemaPrefix, Statement } from "./statement.ts";
import { inCatalogOrder } from "./statement.ts";

/**
 * How many instances of these workflows, or of all, are in each status. Finished ones are many, those in the statuses of $2 few, so
 * they are counted apart, at one moment. Indexes: instance_outcome, and instance_status; nothing else is read where the table was vacuumed.
 */
export function countInstances(schema: SchemaPrefix, { all }: { all: boolean }): Statement {
  const inOrder = inCatalogOrder(schema);
  const chosen = `instance.namespace = $1 ${inOrder} ${all ? "" : `and instance.name = any ($3::text[] ${inOrder})`}`;
  return {
    name: all ? "count_all_instances" : "count_instances",
    slow: true,
    text: `
select instance.name, instance.outcome as status, count(*) as count
from ${schema}instance as instance
where ${chosen} and instance.outcome is not null
group by instance.name, instance.outcome
union all
select instance.name, instance.status, count(*)
from ${schema}instance as instance
where ${chosen} and instance.status = any ($2::text[] ${inOrder})
group by instance.name, instance.status`,
  };
}

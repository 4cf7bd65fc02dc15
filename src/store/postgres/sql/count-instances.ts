import type { SchemaPrefix, Statement } from "./statement.ts";
import { inCatalogOrder } from "./statement.ts";

/**
 * How many instances of these workflows, or of all, are in each status. Index: instance_status, of which alone it can be told; or
 * the whole table, where PostgreSQL expects that to be less to read.
 */
export function countInstances(schema: SchemaPrefix, { all }: { all: boolean }): Statement {
  const inOrder = inCatalogOrder(schema);
  return {
    name: all ? "count_all_instances" : "count_instances",
    slow: true,
    text: `
select instance.name, instance.status, count(*) as count
from ${schema}instance as instance
where instance.namespace = $1 ${inOrder} ${all ? "" : `and instance.name = any ($2::text[] ${inOrder})`}
group by instance.name, instance.status`,
  };
}

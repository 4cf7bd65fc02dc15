import type { SchemaPrefix, Statement } from "./statement.ts";
import { IN_QUEUE_ORDER } from "./statement.ts";

/** How many instances of these workflows, or of all, are in each status. Index: instance_status, and nothing else is read. */
export function countInstances(schema: SchemaPrefix, { all }: { all: boolean }): Statement {
  return {
    name: all ? "count_all_instances" : "count_instances",
    slow: true,
    text: `
select instance.name, instance.status, count(*) as count
from ${schema}instance as instance
where instance.namespace = $1 ${IN_QUEUE_ORDER} ${all ? "" : "and instance.name = any ($2::text[])"}
group by instance.name, instance.status`,
  };
}

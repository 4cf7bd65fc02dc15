import type { QueueTable } from "./queue-table.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";
import { IN_QUEUE_ORDER } from "./statement.ts";

/** Who holds leases. Index: hook_due or instance_due, their leased lanes. */
export function leaseTokens(table: QueueTable): (schema: SchemaPrefix) => Statement {
  return (schema) => ({
    name: `${table}_lease_tokens`,
    text: `
select distinct work.lock
from ${schema}${table} as work
where work.namespace = any ($1::text[] ${IN_QUEUE_ORDER}) and work.class = 2 and work.available_at is not null and work.lock is not null`,
  });
}

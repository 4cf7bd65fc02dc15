import type { QueueTable } from "./queue-table.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";
import { IN_QUEUE_ORDER, NOW } from "./statement.ts";

/** Ends the leases of owners that are known to be gone. Index: hook_due or instance_due, their leased lanes. */
export function expireLeases(table: QueueTable): (schema: SchemaPrefix) => Statement {
  return (schema) => ({
    name: `expire_${table}_leases`,
    text: `
update ${schema}${table} as work set available_at = ${NOW}
where work.namespace = any ($2::text[] ${IN_QUEUE_ORDER}) and work.class = 2 and work.available_at is not null and work.lock = any ($3::text[])`,
  });
}

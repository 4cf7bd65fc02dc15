import type { QueueTable } from "./queue-table.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";
import { IN_QUEUE_ORDER } from "./statement.ts";

/** What is claimed with one of these tokens. Index: hook_due or instance_due, their leased lanes. */
export function findLeased(table: QueueTable): (schema: SchemaPrefix) => Statement {
  const columns = table === "hook" ? "" : "work.name, work.ref, work.run, ";
  return (schema) => ({
    name: `find_leased_${table}s`,
    text: `
select work.namespace, work.id, ${columns}work.lock
from ${schema}${table} as work
where work.namespace = any ($1::text[] ${IN_QUEUE_ORDER}) and work.class = 2 and work.available_at is not null and work.lock = any ($2::text[])`,
  });
}

import type { QueueTable } from "./queue-table.ts";

/** What is claimed with one of these tokens. Index: perdure_hook_due or perdure_instance_due, its leased lanes. */
export function findLeased(table: QueueTable): string {
  const columns = table === "perdure_hook" ? "namespace, id, lock" : "namespace, name, id, ref, run, lock";
  return `
select ${columns} from ${table} indexed by ${table}_due
where namespace in (select value from json_each(?)) and class = 2 and available_at is not null
  and lock in (select value from json_each(?))`;
}

import type { QueueTable } from "./queue-table.ts";

/** Who holds leases. Index: perdure_hook_due or perdure_instance_due, its leased lanes. */
export function leaseTokens(table: QueueTable): string {
  return `
select distinct lock from ${table} indexed by ${table}_due
where namespace in (select value from json_each(?)) and class = 2 and available_at is not null and lock is not null`;
}

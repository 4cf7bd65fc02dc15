import type { QueueTable } from "./queue-table.ts";

/** Ends the leases of owners that are known to be gone. Index: perdure_hook_due or perdure_instance_due, its leased lanes. */
export function expireLeases(table: QueueTable): string {
  return `
update ${table} indexed by ${table}_due set available_at = ?
where namespace in (select value from json_each(?)) and class = 2 and available_at is not null
  and lock in (select value from json_each(?))`;
}

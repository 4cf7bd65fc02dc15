import type { SchemaPrefix, Statement } from "./statement.ts";
import { IN_QUEUE_ORDER } from "./statement.ts";

/** Who holds leases. Index: hook_due, its leased lanes. */
export function leaseTokens(schema: SchemaPrefix): Statement {
  return {
    name: "lease_tokens",
    text: `
select distinct hook.lock
from ${schema}hook as hook
where hook.namespace = any ($1::text[] ${IN_QUEUE_ORDER}) and hook.class = 2 and hook.available_at is not null and hook.lock is not null`,
  };
}

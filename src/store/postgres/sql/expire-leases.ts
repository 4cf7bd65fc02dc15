import type { SchemaPrefix, Statement } from "./statement.ts";
import { IN_QUEUE_ORDER, NOW } from "./statement.ts";

/** Ends the leases of owners that are known to be gone. Index: hook_due, its leased lanes. */
export function expireLeases(schema: SchemaPrefix): Statement {
  return {
    name: "expire_leases",
    text: `
update ${schema}hook as hook set available_at = ${NOW}
where hook.namespace = any ($2::text[] ${IN_QUEUE_ORDER}) and hook.class = 2 and hook.available_at is not null and hook.lock = any ($3::text[])`,
  };
}

import type { SchemaPrefix, Statement } from "./statement.ts";
import { batch, inLockingOrder, isRowOf, NOW } from "./statement.ts";

/** Extends leases for their owners only: a row that was taken over or set free is left as it is. Index: hook_pkey. */
export function renewHooks(schema: SchemaPrefix): Statement {
  return {
    name: "renew_hooks",
    text: `
update ${schema}hook as hook set available_at = ${NOW} + $2::bigint
from ${inLockingOrder(schema, batch(3, { namespace: "text", id: "text", lock: "text" }))} as item
where ${isRowOf("hook", "item")} and hook.lock = any (array[item.lock])
returning hook.namespace, hook.id, hook.lock`,
  };
}

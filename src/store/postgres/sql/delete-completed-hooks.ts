import type { SchemaPrefix, Statement } from "./statement.ts";
import { batch, inLockingOrder, isRowOf } from "./statement.ts";

/** Completed hooks that nobody wants kept, and that nothing was triggered beside up to this moment. Index: hook_pkey. */
export function deleteCompletedHooks(schema: SchemaPrefix, { keyed }: { keyed: boolean }): Statement {
  const leases = batch(1, { namespace: "text", id: "text", lock: "text" });
  return {
    name: keyed ? "delete_completed_keyed_hooks" : "delete_completed_hooks",
    ...(keyed ? {} : { planOnce: true }),
    text: `
delete from ${schema}hook as hook
using ${keyed ? inLockingOrder(schema, leases) : leases} as item
where ${isRowOf("hook", "item")} and hook.lock = item.lock and hook.next_at is null`,
  };
}

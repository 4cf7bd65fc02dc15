import type { SchemaPrefix, Statement } from "./statement.ts";
import { batch, isRowOf } from "./statement.ts";

/** Settled as completed, though nobody wants them kept: what was triggered beside them was cancelled just then. Index: hook_pkey. */
export function deleteFinishedHooks(schema: SchemaPrefix): Statement {
  return {
    name: "delete_finished_hooks",
    text: `
delete from ${schema}hook as hook
using ${batch(1, { namespace: "text", id: "text" })} as item
where ${isRowOf("hook", "item")} and hook.available_at is null and hook.error is null`,
  };
}

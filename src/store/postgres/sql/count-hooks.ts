import type { SchemaPrefix, Statement } from "./statement.ts";
import { batch, inLockingOrder, isRowOf } from "./statement.ts";

/** Writes how often hooks were tried, and whether their attempts begin, for their owners only. Index: hook_pkey. */
export function countHooks(schema: SchemaPrefix): Statement {
  const columns = {
    namespace: "text",
    id: "text",
    lock: "text",
    attempts: "int",
    recoveries: "int",
    begins: "boolean",
  };
  return {
    name: "count_hooks",
    text: `
update ${schema}hook as hook set attempts = item.attempts, recoveries = item.recoveries, confirmed = item.begins
from ${inLockingOrder(schema, batch(1, columns))} as item
where ${isRowOf("hook", "item")} and hook.lock = any (array[item.lock])
returning hook.namespace, hook.id, hook.lock`,
  };
}

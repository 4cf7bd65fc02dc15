import { RESULT } from "./settle-result.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";
import { batch, isRowOf } from "./statement.ts";

/** Who owns these rows, or what they became, as far as they are there. Index: hook_pkey. */
export function findSettledHooks(schema: SchemaPrefix): Statement {
  return {
    name: "find_settled_hooks",
    text: `
select item.namespace, item.id, settled.lock, settled.result
from ${batch(1, { namespace: "text", id: "text" })} as item
cross join lateral (
  select hook.lock, ${RESULT} as result from ${schema}hook as hook where ${isRowOf("hook", "item")} limit 1
) as settled`,
  };
}

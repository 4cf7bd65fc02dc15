import type { SchemaPrefix, Statement } from "./statement.ts";
import { batch, isRowOf } from "./statement.ts";

/** The hooks that hold triggers which were written before: those of their ids, or of their keys. Indexes: hook_pkey, hook_key. */
export function findTriggeredHooks(schema: SchemaPrefix): Statement {
  const columns = "hook.id, hook.lock, hook.created_at";
  return {
    name: "find_triggered_hooks",
    text: `
select item.namespace, item.id as trigger, holder.id, holder.lock, holder.created_at
from ${batch(1, { namespace: "text", id: "text", name: "text", key: "text" })} as item
cross join lateral (
  select ${columns} from ${schema}hook as hook where ${isRowOf("hook", "item")}
  union all
  select ${columns} from ${schema}hook as hook
  where hook.namespace = item.namespace and hook.name = item.name and hook.key = item.key
    and hook.key is not null and hook.available_at is not null
  limit 1
) as holder`,
  };
}

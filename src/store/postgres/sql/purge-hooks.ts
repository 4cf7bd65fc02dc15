import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";

/** One bounded batch of kept hooks whose time is over. Index: hook_completed. */
export function purgeHooks(schema: SchemaPrefix): Statement {
  return {
    name: "purge_hooks",
    text: `
delete from ${schema}hook as hook
where hook.ctid = any (array(
  select old.ctid from ${schema}hook as old
  where old.namespace = $2 and old.available_at is null and old.error is null and old.purge_at <= ${NOW}
  order by old.purge_at
  limit $3
  for update skip locked
))`,
  };
}

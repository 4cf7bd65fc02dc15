import type { SchemaPrefix, Statement } from "./statement.ts";

/** Index: hook_pkey. */
export function discardHooks(schema: SchemaPrefix): Statement {
  return {
    name: "discard_hooks",
    text: `
delete from ${schema}hook as hook
where hook.namespace = $1 and hook.id = any ($2::text[]) and hook.available_at is null
returning hook.id`,
  };
}

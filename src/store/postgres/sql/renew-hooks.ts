import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";

/** Extends leases for their owners only: a row that was taken over or set free is left as it is. Index: hook_pkey. */
export function renewHooks(schema: SchemaPrefix): Statement {
  return {
    name: "renew_hooks",
    text: `
update ${schema}hook as hook set available_at = ${NOW} + $2::bigint
from unnest($3::text[], $4::text[], $5::text[]) as item(namespace, id, lock)
where hook.namespace = item.namespace and hook.id = item.id and hook.lock = item.lock
returning hook.namespace, hook.id, hook.lock`,
  };
}

import { STATUS_CONDITIONS } from "./hook-record.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";

/** Dead letters whose keys are free become due, with fresh attempts. Indexes: hook_pkey, hook_key. */
export function redriveHooks(schema: SchemaPrefix): Statement {
  return {
    name: "redrive_hooks",
    text: `
update ${schema}hook as hook set
  available_at = ${NOW}, class = 0, attempts = 0, recoveries = 0, finished_at = null, latest_at = null
where hook.namespace = $2 and hook.id = any ($3::text[]) and ${STATUS_CONDITIONS.failed}
  and not exists (
    select from ${schema}hook as holder
    where holder.namespace = hook.namespace and holder.name = hook.name and holder.key = hook.key
      and holder.key is not null and holder.available_at is not null
  )
returning hook.id`,
  };
}

import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";

/**
 * One trigger in the application's own transaction: scalars only, which every driver understands, and nothing but an insert, so
 * that it waits for nobody. The announcement is delivered with the commit. Index: hook_pkey.
 */
export function foreignInsertHook(schema: SchemaPrefix): Statement {
  return {
    name: "foreign_insert_hook",
    text: `
with clock as materialized (select ${NOW} as now),
inserted as (
  insert into ${schema}hook (namespace, id, name, payload, retries, trace, own_id, created_at, triggered_at, class, available_at, attempts)
  select $2::text, $3::text, $4::text, ($5::text)::json, ($6::text)::json, ($7::text)::json, $8::boolean, clock.now, clock.now, 1,
    greatest(coalesce($9::bigint, clock.now), clock.now), 0
  from clock
  on conflict (namespace, id) do nothing
)
select pg_notify($10::text, $11::text)`,
  };
}

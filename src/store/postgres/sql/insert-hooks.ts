import { COLUMNS, VALUES } from "./insert-columns.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";

/** Triggers without keys. An id that exists is left alone. Gives what is new. The batch is in the order of ids. Index: hook_pkey. */
export function insertHooks(schema: SchemaPrefix): Statement {
  return {
    name: "insert_hooks",
    planOnce: true,
    text: `
insert into ${schema}hook (${COLUMNS}, triggered_at)
select ${VALUES}, clock.now
from (select ${NOW} as now) as clock
cross join unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::text[], $10::bigint[], $11::boolean[])
  as item(namespace, id, name, payload, retries, trace, process_at, lock, lease_ms, own_id)
on conflict (namespace, id) do nothing
returning namespace, id, id as trigger, created_at as now`,
  };
}

import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";

/**
 * The common case: new ids, no parents or traits, and all of them leased alike or not at all. Without the look for conflicts, and with fewer
 * arrays to take apart, it costs less. An id that exists is an error, and nothing is written.
 */
export function insertNewInstances(schema: SchemaPrefix): Statement {
  return {
    name: "insert_new_instances",
    planOnce: true,
    text: `
with clock as materialized (select ${NOW} as now, $7::text as lock, $8::bigint as lease_ms),
created as (
  insert into ${schema}instance (ref, namespace, name, id, params, created_at, class, available_at, lock, started_at)
  select item.ref, item.namespace, item.name, item.id, item.params, clock.now,
    case when clock.lock is null then 1 else 2 end,
    case when clock.lock is null then clock.now else clock.now + clock.lease_ms end,
    clock.lock,
    case when clock.lock is null then null else clock.now end
  from clock
  cross join rows from (unnest($2::text[], $3::text[], $4::text[], $5::text[]), json_array_elements($6::json))
    as item(ref, namespace, name, id, params)
)
select now from clock`,
  };
}

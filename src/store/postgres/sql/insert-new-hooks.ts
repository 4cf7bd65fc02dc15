import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";

/**
 * The common case: new ids, no keys, nothing but a name and a payload, and all of them leased alike or not at all. Without the
 * look for conflicts, and with fewer arrays to take apart, it costs half. An id that exists is an error, and nothing is written.
 */
export function insertNewHooks(schema: SchemaPrefix): Statement {
  return {
    name: "insert_new_hooks",
    planOnce: true,
    text: `
insert into ${schema}hook (namespace, id, name, payload, created_at, triggered_at, class, available_at, lock, attempts, last_attempt_at)
select item.namespace, item.id, item.name, item.payload, clock.now, clock.now,
  case when clock.lock is null then 1 else 2 end,
  case when clock.lock is null then clock.now else clock.now + clock.lease_ms end,
  clock.lock,
  case when clock.lock is null then 0 else 1 end,
  case when clock.lock is null then null else clock.now end
from (select ${NOW} as now, $6::text as lock, $7::bigint as lease_ms) as clock
cross join unnest($2::text[], $3::text[], $4::text[], $5::json[]) as item(namespace, id, name, payload)
returning created_at as now`,
  };
}

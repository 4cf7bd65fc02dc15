import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";

/** Instances whose ids may exist: those are left alone. Gives what is new. Indexes: instance_pkey, instance_id. */
export function insertInstances(schema: SchemaPrefix): Statement {
  return {
    name: "insert_instances",
    planOnce: true,
    text: `
insert into ${schema}instance (ref, namespace, name, id, params, parent, created_at, class, available_at, lock, started_at,
  labels, priority, success_retention, error_retention, schedule, slot_key, rate_key)
select item.ref, item.namespace, item.name, item.id, item.params, item.parent, clock.now,
  case when item.lock is null then 1 else 2 end,
  case when item.lock is null then clock.now else clock.now + item.lease_ms end,
  item.lock,
  case when item.lock is null then null else clock.now end,
  (item.traits->>'labels')::json, coalesce((item.traits->>'priority')::smallint, 0), (item.traits->>'successRetention')::bigint,
  (item.traits->>'errorRetention')::bigint, (item.traits->>'schedule')::json, item.traits->>'slotKey', item.traits->>'rateKey'
from (select ${NOW} as now) as clock
cross join rows from (
  unnest($2::text[], $3::text[], $4::text[], $5::text[]), json_array_elements($6::json), unnest($7::text[], $8::text[], $9::bigint[], $10::json[])
) as item(ref, namespace, name, id, params, parent, lock, lease_ms, traits)
on conflict do nothing
returning ref, created_at`,
  };
}

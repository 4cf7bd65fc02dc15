import { freshClass, freshTime } from "./fresh-place.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";
import { joinLines } from "./tell-lines.ts";

/**
 * Instances whose ids may exist: those are left alone. Gives what is new. `limited`: some of them stand in line.
 * The batch is in the order of names. Indexes: instance_pkey, instance_id, label_pkey; line_pkey.
 */
export function insertInstances(schema: SchemaPrefix, limited: boolean): Statement {
  return {
    name: limited ? "insert_limited_instances" : "insert_instances",
    planOnce: true,
    text: `
with clock as materialized (select ${NOW} as now),
${createdInstances(schema, limited)}
select ref, created_at from created`,
  };
}

/** The parts of a statement that has a `clock`, and parameters from `$2` to `$10`. `condition` says whether they are written. */
export function createdInstances(schema: SchemaPrefix, limited: boolean, condition = "true"): string {
  return `created as (
  insert into ${schema}instance (ref, namespace, name, id, params, parent, created_at, class, available_at, lock, started_at,
  labels, priority, success_retention, error_retention, schedule, slot_key, rate_key)
select item.ref, item.namespace, item.name, item.id, item.params, item.parent, clock.now,
  case when item.lock is null then ${freshClass("trait")} else 2 end,
  case when item.lock is null then ${freshTime("trait")} else clock.now + item.lease_ms end,
  item.lock,
  case when item.lock is null then null else clock.now end,
  (item.traits->>'labels')::json, trait.priority, (item.traits->>'successRetention')::bigint,
  (item.traits->>'errorRetention')::bigint, (item.traits->>'schedule')::json, trait.slot_key, trait.rate_key
from clock
cross join rows from (
  unnest($2::text[], $3::text[], $4::text[], $5::text[]), json_array_elements($6::json), unnest($7::text[], $8::text[], $9::bigint[], $10::json[])
) as item(ref, namespace, name, id, params, parent, lock, lease_ms, traits)
cross join lateral (
  select coalesce((item.traits->>'priority')::smallint, 0) as priority, item.traits->>'slotKey' as slot_key, item.traits->>'rateKey' as rate_key
) as trait
where ${condition}
on conflict do nothing
returning ref, created_at, namespace, name, class, available_at, slot_key, rate_key, labels
),
labelled as (
  insert into ${schema}label (namespace, name, key, value, ref)
  select created.namespace, created.name, label.key, label.value, created.ref
  from created cross join lateral json_each_text(created.labels) as label
)${limited ? `,\njoined as (\n  ${joinLines(schema, "created")}\n)` : ""}`;
}

import { LOWEST_PRIORITY, PRIORITY_STEP_MS } from "../../../queue/rank.ts";
import { WorkClass } from "../../../queue/work-class.ts";
import { indexedBatch, isNamedBy, NOW, type SchemaPrefix, type Statement } from "../statement.ts";
import { andNoteLines, joinLines, type Telling, whenTold } from "../tell-lines.ts";

/**
 * The common case: new ids, no parents or traits, and all of them with the same lease or none. Without the search for
 * conflicts, and with fewer arrays to unnest, it costs less. An id that exists is an error, and nothing is written.
 * Indexes: instance_pkey, instance_id.
 */
export function insertNewInstances(schema: SchemaPrefix): Statement {
  return {
    name: "insert_new_instances",
    planOnce: true,
    text: `
with clock as materialized (select ${NOW} as now, $8::text as lock, $9::bigint as lease_ms),
created as (
  insert into ${schema}instance (ref, namespace, name, id, version, params, created_at, class, available_at, lock, started_at)
  select item.ref, item.namespace, item.name, item.id, item.version, item.params, clock.now,
    case when clock.lock is null then ${WorkClass.fresh} else ${WorkClass.leased} end,
    case when clock.lock is null then clock.now else clock.now + clock.lease_ms end,
    clock.lock,
    case when clock.lock is null then null else clock.now end
  from clock
  cross join rows from (unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::int[]), json_array_elements($7::json))
    as item(ref, namespace, name, id, version, params)
)
select now from clock`,
  };
}

/**
 * Instances whose ids may exist: existing ones are left alone. Returns the new rows. `limited`: some of them join a line.
 * `events`: some of them are created with an event, as parameters from `$12` to `$15`. The batch is in the order of names.
 * Indexes: instance_pkey, instance_id, label_pkey; line_pkey; event_pkey.
 */
export function insertInstances(schema: SchemaPrefix, { limited, events, later = false }: InsertShape): Statement {
  const telling = { later: limited && later };
  const name = limited ? "insert_limited_instances" : "insert_instances";
  return {
    name: `${name}${events ? "_with_events" : ""}${whenTold(telling)}`,
    planOnce: true,
    ...(telling.later && { tellsLater: true }),
    text: `
with clock as materialized (select ${NOW} as now),
${createdInstances(schema, limited, { events, ...telling })}${events ? `,\n${firstEvents(schema)}` : ""}
select ref, created_at${andNoteLines(telling, "joined")} from created`,
  };
}

export interface InsertShape extends Telling {
  readonly limited: boolean;
  readonly events: boolean;
}

/** The first event of a new run has sequence 1. */
function firstEvents(schema: SchemaPrefix): string {
  return `told as (
  insert into ${schema}event (ref, run, id, sequence, type, payload, at)
  select created.ref, 1, event.id, 1, event.type, event.payload, created.created_at
  from unnest($12::text[], $13::text[], $14::text[], $15::json[]) as event(ref, id, type, payload)
  join created on created.ref = event.ref
)`;
}

/** The columns of instances to create, as parameters from `$2` to `$11`. */
const BATCH = `rows from (
  unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::int[]), json_array_elements($7::json), unnest($8::text[], $9::text[], $10::bigint[], $11::json[])
) as item(ref, namespace, name, id, version, params, parent, lock, lease_ms, traits)`;

interface CreatedParts extends Telling {
  readonly condition?: string;
  readonly items?: string;
  readonly events?: boolean;
}

/** The parts of a statement that has a `clock` and the `items` to create. `condition` says whether they are written. */
export function createdInstances(
  schema: SchemaPrefix,
  limited: boolean,
  { condition = "true", items = BATCH, events = false, later = false }: CreatedParts = {},
): string {
  return `created as (
  insert into ${schema}instance (ref, namespace, name, id, version, params, parent, created_at, class, available_at, lock, started_at,
  labels, priority, success_retention, error_retention, schedule, trace, slot_key, rate_key, timeout, deadline${events ? ", wakes" : ""})
select item.ref, item.namespace, item.name, item.id, item.version, item.params, item.parent, clock.now,
  case when item.lock is null then ${freshClass("trait")} else ${WorkClass.leased} end,
  case when item.lock is null then ${freshTime("trait")} else clock.now + item.lease_ms end,
  item.lock,
  case when item.lock is null then null else clock.now end,
  (item.traits->>'labels')::json, trait.priority, (item.traits->>'successRetention')::bigint,
  (item.traits->>'errorRetention')::bigint, (item.traits->>'schedule')::json, item.traits->>'trace', trait.slot_key, trait.rate_key,
  (item.traits->>'timeout')::bigint, clock.now + (item.traits->>'timeout')::bigint${
    events ? ",\n  case when item.ref = any ($12::text[]) then 1 else 0 end" : ""
  }
from clock
cross join ${items}
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
)${limited ? `,\njoined as (\n  ${joinLines(schema, "created", { later })}\n)` : ""}`;
}

/** The instances that have the ids which could not be inserted. Index: instance_id. */
export function findCreatedInstances(schema: SchemaPrefix): Statement {
  return {
    name: "find_created_instances",
    text: `
select item.index, found.ref, found.parent, found.created_at
from ${indexedBatch(1, { namespace: "text", name: "text", id: "text" })} as item
cross join lateral (
  select instance.ref, instance.parent, instance.created_at from ${schema}instance as instance where ${isNamedBy("instance", "item")} limit 1
) as found`,
  };
}

/** `freshRank` in SQL: the class of an instance that has never run. `row` has its priority and keys. */
export function freshClass(row: string): string {
  return `case when ${row}.slot_key is not null or ${row}.rate_key is not null then ${WorkClass.lineFresh}
    when ${row}.priority > 0 then ${WorkClass.urgent} when ${row}.priority < 0 then ${WorkClass.patient} else ${WorkClass.fresh} end`;
}

/** The `available_at` of an instance that joins a line or has a priority: the higher the priority, the earlier. */
export function lineTime(row: string): string {
  return `clock.now - (${row}.priority - (${LOWEST_PRIORITY}) + 1) * ${PRIORITY_STEP_MS}::bigint`;
}

/** `freshRank` in SQL: the `available_at` of an instance that has never run. */
export function freshTime(row: string): string {
  return `case when ${row}.priority = 0 and ${row}.slot_key is null and ${row}.rate_key is null then clock.now else ${lineTime(row)} end`;
}

/**
 * Completes an instance that was created in SQL, for its owner, and gives it back as a new one. Retention and a timeout that it
 * was created with stay. Indexes: instance_pkey, line_pkey.
 */
export function prepareInstance(schema: SchemaPrefix): Statement {
  return {
    name: "prepare_instance",
    text: `
with clock as materialized (select ${NOW} as now),
prepared as (
  update ${schema}instance as instance set
    version = $10::int, params = ($5::text)::json, slot_key = trait.slot_key, rate_key = trait.rate_key,
    success_retention = coalesce(instance.success_retention, $8::bigint),
    error_retention = coalesce(instance.error_retention, $9::bigint),
    timeout = coalesce(instance.timeout, $11::bigint),
    deadline = coalesce(instance.deadline, case when instance.run = 1 then instance.created_at else clock.now end + $11::bigint),
    class = ${freshClass("trait")}, available_at = case when not instance.paused then ${freshTime("trait")} end,
    lock = null, started_at = null
  from clock
  cross join lateral (
    select owned.priority, $6::text as slot_key, $7::text as rate_key from ${schema}instance as owned where owned.ref = $2::text limit 1
  ) as trait
  where instance.ref = $2::text and instance.run = $3::integer and instance.lock = $4::text and instance.class = ${WorkClass.leased}
  returning instance.namespace, instance.name, instance.class, instance.available_at, instance.slot_key, instance.rate_key
)
${joinLines(schema, "prepared")}`,
  };
}

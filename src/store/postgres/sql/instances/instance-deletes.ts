import { WorkClass } from "../../../queue/work-class.ts";
import { batch, foundRows, isInstanceOf, NOW, type SchemaPrefix, type Statement } from "../statement.ts";
import { freeSlots, noteLines } from "../tell-lines.ts";
import { INSTANCE_RECORD } from "./instance-views.ts";

/** No owner can still be writing to an instance that was finished or deleted this long ago. */
export const UNDER_WAY_MS = 600_000;

/**
 * Part of a statement that deletes instances: `gone` has the columns of their rows. Remembers the instances, so that their
 * dependents are deleted later. A commit that was under way when its instance was deleted may write dependents after the first
 * sweep, so such an instance is swept again. Index: deleted_instance_pkey.
 */
export function markDeleted(schema: SchemaPrefix, delayMs: number): string {
  return `insert into ${schema}deleted_instance (ref, due_at, final)
  select gone.ref, clock.now + ${delayMs}, coalesce(gone.finished_at < clock.now - ${UNDER_WAY_MS}, false) from gone cross join clock
  on conflict do nothing`;
}

/**
 * Deletes an instance that no other waits for, with its dependents, and frees its slot. Indexes: those that
 * `deleteInstanceFunction` names.
 */
export function deleteInstance(schema: SchemaPrefix): Statement {
  return {
    name: "delete_instance",
    text: `
select ${INSTANCE_RECORD}, true as changed
from ${schema}delete_instance($1::bigint, $2::text, $3::text, $4::text, $5::text, $6::integer) as instance`,
  };
}

/**
 * Gives up the slot of an instance that its transaction deletes next, so that the line is told at the commit. Index:
 * instance_id, then instance_pkey.
 */
export function giveUpSlot(schema: SchemaPrefix): Statement {
  return {
    name: "give_up_slot",
    tellsLater: true,
    text: `
with target as materialized (
  select * from ${schema}instance as instance where instance.namespace = $1 and instance.name = $2 and instance.id = $3
    and ($4::text is null or (instance.ref = $4::text and instance.run = $5::int))
  for update
),
held as materialized (
  select target.* from target where target.waiters is null and target.class = ${WorkClass.leased} and target.slot_key is not null
),
given as (
  update ${schema}instance as instance set slot_key = null from held where ${isInstanceOf("instance", "held")} returning instance.ref
),
freed as (
  ${freeSlots(schema, "select * from held", { later: true })}
)
select given.ref, ${noteLines("freed")} from given`,
  };
}

/**
 * Deletes a limited number of instances that were kept for long enough. Rows that another transaction has locked are left for
 * the next time. Dependents are swept later. Indexes: instance_purge, label_pkey, deleted_instance_pkey.
 */
export function purgeInstances(schema: SchemaPrefix): Statement {
  const old = `
    select old.ctid from ${schema}instance as old
    where old.namespace = $2 and old.purge_at <= ${NOW}
    order by old.purge_at
    limit $3
    for update skip locked`;
  return {
    name: "purge_instances",
    text: `
with clock as materialized (select ${NOW} as now),
gone as (
  delete from ${schema}instance as instance using ${foundRows(old)} as found where instance.ctid = found.ctid
  returning instance.ref, instance.namespace, instance.name, instance.labels, instance.finished_at
),
marked as (${markDeleted(schema, 0)}),
unlabelled as (${deleteLabels(schema)})
select count(*) as count from gone`,
  };
}

/** Part of a statement that deletes instances: `gone` has the columns of their rows. Index: label_pkey. */
export function deleteLabels(schema: SchemaPrefix): string {
  const columns = ["namespace", "name", "key", "value", "ref"];
  return `delete from ${schema}label as label
  using (
    select gone.namespace, gone.name, pair.key, pair.value, gone.ref from gone cross join lateral json_each_text(gone.labels) as pair
  ) as item
  where ${columns.map((column) => `label.${column} = any (array[item.${column}])`).join(" and ")}`;
}

/** Tables with the dependents of instances, whose primary keys begin with `ref`. Labels are deleted with the instance. */
export const DEPENDENT_TABLES = ["journal", "event", "past_run", "stream_chunk"] as const;

type DependentTable = (typeof DEPENDENT_TABLES)[number];

/** Deleted instances whose dependents are due to be swept. Index: deleted_instance_due. */
export function findDeletedInstances(schema: SchemaPrefix): Statement {
  return {
    name: "find_deleted_instances",
    text: `
select deleted.ref from ${schema}deleted_instance as deleted
where deleted.due_at <= ${NOW}
order by deleted.due_at
limit $2
for update skip locked`,
  };
}

/** Deletes a limited number of dependents of deleted instances from one table. Index: the table's primary key. */
export function sweepDependents(table: DependentTable): (schema: SchemaPrefix) => Statement {
  return (schema) => {
    const owned = `
    select owned.ctid
    from ${batch(1, { ref: "text" })} as gone
    cross join lateral (
      select owned.ctid from ${schema}${table} as owned where ${isInstanceOf("owned", "gone")} limit $2
    ) as owned
    limit $2`;
    return {
      name: `sweep_${table}`,
      text: `
delete from ${schema}${table} as dependent using ${foundRows(owned)} as found where dependent.ctid = found.ctid`,
    };
  };
}

/**
 * Forgets deleted instances that have no dependents left. Those that an owner may still have been writing to are swept once
 * more.
 * Index: deleted_instance_pkey.
 */
export function forgetDeletedInstances(schema: SchemaPrefix): Statement {
  return {
    name: "forget_deleted_instances",
    text: `
with gone as materialized (select * from ${batch(2, { ref: "text" })} as gone),
forgotten as (
  delete from ${schema}deleted_instance as deleted using gone where ${isInstanceOf("deleted", "gone")} and deleted.final
)
update ${schema}deleted_instance as deleted set due_at = ${NOW} + ${UNDER_WAY_MS}, final = true
from gone
where ${isInstanceOf("deleted", "gone")} and not deleted.final`,
  };
}

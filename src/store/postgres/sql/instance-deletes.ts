import { isWantedRun } from "./instance-changes.ts";
import { INSTANCE_RECORD } from "./instance-views.ts";
import { batch, foundRows, isInstanceOf, NOW, type SchemaPrefix, type Statement } from "./statement.ts";

/** Nobody can still be writing to an instance that has been finished, or is gone, for this long. */
export const UNDER_WAY_MS = 600_000;

/**
 * Part of a statement that deletes instances: `gone` has the columns of their rows. Remembers whom it has to be swept up after.
 * A commit that was under way when an instance was deleted may leave something behind, so that is looked for once more.
 */
export function markDeleted(schema: SchemaPrefix, delayMs: number): string {
  return `insert into ${schema}deleted_instance (ref, due_at, final)
  select gone.ref, clock.now + ${delayMs}, coalesce(gone.finished_at < clock.now - ${UNDER_WAY_MS}, false) from gone cross join clock
  on conflict do nothing`;
}

/**
 * Gives the key of the slot that it held. What belongs to it is deleted next, and looked for once more later.
 * Indexes: instance_id, label_pkey.
 */
export function deleteInstance(schema: SchemaPrefix): Statement {
  return {
    name: "delete_instance",
    text: `
with clock as materialized (select ${NOW} as now),
gone as (
  delete from ${schema}instance as instance where instance.namespace = $2 and instance.name = $3 and instance.id = $4
    and ${isWantedRun(5)}
  returning instance.*
),
marked as (${markDeleted(schema, UNDER_WAY_MS)}),
unlabelled as (${deleteLabels(schema)})
select ${INSTANCE_RECORD}, case when instance.class = 2 then instance.slot_key end as held_slot from gone as instance`,
  };
}

/**
 * One bounded batch of instances that were kept for long enough. What somebody is just doing something to is left for the next
 * time. What belonged to them is swept up afterwards. Indexes: instance_purge, label_pkey.
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

/** Tables whose rows belong to instances, by `ref`, with which their primary keys begin. Labels are deleted with the instance. */
export const BELONGINGS = ["journal", "event", "past_run", "stream_chunk"] as const;

export type Belonging = (typeof BELONGINGS)[number];

/** What an instance leaves behind. Index: each table's primary key. */
export function deleteBelongings(schema: SchemaPrefix): Statement {
  const parts = BELONGINGS.map((table) => `of_${table} as (delete from ${schema}${table} where ref = $1)`);
  return {
    name: "delete_belongings",
    text: `
with ${parts.join(",\n")}
select`,
  };
}

/** Deleted instances that have to be swept up after. Index: deleted_instance_due. */
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

/** So many rows, at most, of what deleted instances have left in one table. Index: the table's primary key. */
export function sweepBelongings(table: Belonging): (schema: SchemaPrefix) => Statement {
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
delete from ${schema}${table} as belonging using ${foundRows(owned)} as found where belonging.ctid = found.ctid`,
    };
  };
}

/** Nothing is left of these. Those that somebody may still have been writing to are looked at once more. Index: deleted_instance_pkey. */
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

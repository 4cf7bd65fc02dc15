import { deleteLabels } from "./delete-labels.ts";
import { markDeleted } from "./mark-deleted.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";
import { foundRows, NOW } from "./statement.ts";

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

import {
  IN_QUEUE_ORDER,
  inCatalogOrder,
  isInstanceOf,
  READS_ROW,
  type SchemaPrefix,
  type Statement,
  WAITS,
} from "../statement.ts";
import { heldIn, workflowNames } from "./instance-views.ts";

const HELD_STATUSES = "'running', 'waitingForPause', 'rollingBack'";

/**
 * How many instances of these workflows ($5), or of all, are in each of some statuses of finished ($3) and unfinished ($4)
 * instances, in one snapshot. Counting a status stops at $2; null is never. In a vacuumed table, those that are finished or
 * wait are counted without reading the rows. Indexes: instance_finished, instance_waiting, instance_due; instance_id for the
 * names of all workflows.
 */
export function countInstances(schema: SchemaPrefix, { all }: { all: boolean }): Statement {
  const inOrder = inCatalogOrder(schema);
  const byStatus = (column: "status" | "outcome", which: string, statuses: string) => `
select workflow.name, wanted.status, found.count
from workflow cross join unnest(${statuses}::text[]) as wanted(status) cross join lateral (
  select count(*) as count from (
    select from ${schema}instance as instance
    where ${which} and instance.namespace = $1 ${inOrder} and instance.name = workflow.name ${inOrder}
      and instance.${column} = wanted.status ${inOrder}
    order by instance.ref ${inOrder}
    limit $2::bigint
  ) as counted
) as found
where workflow.name is not null and found.count > 0`;
  return {
    name: all ? "count_all_instances" : "count_instances",
    slow: true,
    text: `
with ${all ? workflowNames(schema) : "workflow(name) as (select unnest($5::text[]))"}
${byStatus("outcome", "instance.outcome is not null", "$3")}
union all
${byStatus("status", WAITS, "$4")}
union all
select instance.name, instance.status, count(*)
from ${schema}instance as instance
where ${heldIn("$1")} ${all ? "" : "and instance.name = any ($5::text[])"}
group by instance.name, instance.status`,
  };
}

/**
 * How many instances with a label ($2 and $3) and all further labels (keys $4, values $5) are in each status,
 * from a ref ($6) on. The order and the
 * limits keep PostgreSQL from reading the whole table. Indexes: instance_id for the names of workflows, label_pkey for each of them, then
 * instance_pkey.
 */
export function countLabelledInstances(schema: SchemaPrefix): Statement {
  return {
    name: "count_labelled_instances",
    slow: true,
    text: `
with ${workflowNames(schema)}
select workflow.name, found.status, count(*) as count
from workflow
cross join lateral (
  select instance.status
  from (
    select label.ref from ${schema}label as label
    where label.namespace = $1 and label.name = workflow.name and label.key = $2 and label.value = $3
      and label.ref >= $6
    order by label.ref
    limit (select null::bigint)
  ) as label
  cross join lateral (
    select instance.status from ${schema}instance as instance
    where ${isInstanceOf("instance", "label")} and ${READS_ROW}
    limit 1
  ) as instance
  where not exists (
    select from unnest($4::text[], $5::text[]) as wanted(key, value)
    where (
      select true from ${schema}label as other
      where other.namespace = $1 and other.name = workflow.name and other.key = wanted.key and other.value = wanted.value
        and other.ref = label.ref
      limit 1
    ) is null
  )
) as found
where workflow.name is not null
group by workflow.name, found.status`,
  };
}

/**
 * Counts unfinished instances by version. In each of the statuses of $3, the oldest are counted, up to a limit ($4, null is
 * none). Indexes: instance_waiting and instance_due, then the rows.
 */
export function countVersions(schema: SchemaPrefix): Statement {
  const inOrder = inCatalogOrder(schema);
  return {
    name: "count_versions",
    slow: true,
    text: `
select workflow.name, found.version, count(*) as count
from unnest($2::text[]) as workflow(name)
cross join unnest($3::text[]) as unfinished(status)
cross join lateral (
  (
    select instance.version from ${schema}instance as instance
    where ${WAITS} and instance.namespace = $1 ${inOrder} and instance.name = workflow.name ${inOrder}
      and instance.status = unfinished.status ${inOrder}
    order by instance.ref ${inOrder}
    limit $4::bigint
  )
  union all
  (
    select instance.version from ${schema}instance as instance
    where unfinished.status in (${HELD_STATUSES}) and ${heldIn("$1")} and instance.name = workflow.name
      and instance.status = unfinished.status
    order by instance.ref ${IN_QUEUE_ORDER}
    limit $4::bigint
  )
  limit $4::bigint
) as found
group by workflow.name, found.version`,
  };
}

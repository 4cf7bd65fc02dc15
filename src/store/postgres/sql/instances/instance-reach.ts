import type { InstanceFilter } from "../../../instances/instance-records.ts";
import { inCatalogOrder, type SchemaPrefix, type Statement, WAITS } from "../statement.ts";
import { type AddValue, directionOf, workflowNames } from "./instance-views.ts";

/**
 * The ref that a list reaches with so many entries of its index, or a nearer one; see `InstanceStatements.reach`. The workflows
 * share the entries. No rows of tables are read. Indexes: instance_waiting and instance_finished, or label_pkey; instance_id
 * for the names of workflows.
 */
export function reachOfList(
  schema: SchemaPrefix,
  filter: InstanceFilter,
  entries: number,
): { readonly statement: Statement; readonly values: unknown[] } {
  const { name, statuses, labels, after, order } = filter;
  const [label] = labels;
  const values: unknown[] = [filter.namespace];
  const value: AddValue = (given, type) => `$${values.push(given)}::${type}`;
  const direction = directionOf(filter);
  const begun = after === null ? null : value(after, "text");
  const inOrder = inCatalogOrder(schema);
  const beyond = (table: string, collation: string) =>
    begun === null ? "" : `and ${table}.ref ${collation} ${order === "oldest" ? ">" : "<"} ${begun}`;
  const workflows = name === null ? workflowNames(schema) : `workflow(name) as (select ${value(name, "text")})`;
  const most = value(entries, "bigint");
  const last = "offset (select share.entries - 1 from share) limit 1";
  const wanted = label === undefined ? value(statuses, "text[]") : null;
  const byStatus = (column: "status" | "outcome", which: string) => `
  select found.ref from workflow cross join unnest(${wanted}) as wanted(status) cross join lateral (
    select instance.ref from ${schema}instance as instance
    where ${which} and instance.namespace = $1 ${inOrder} and instance.name = workflow.name ${inOrder}
      and instance.${column} = wanted.status ${inOrder} ${beyond("instance", inOrder)}
    order by instance.ref ${inOrder} ${direction}
    ${last}
  ) as found
  where workflow.name is not null`;
  const byLabel = ([key, text]: InstanceFilter["labels"][number]) => `
  select found.ref from workflow cross join lateral (
    select label.ref from ${schema}label as label
    where label.namespace = $1 and label.name = workflow.name and label.key = ${value(key, "text")} and label.value = ${value(text, "text")}
      ${beyond("label", "")}
    order by label.ref ${direction}
    ${last}
  ) as found
  where workflow.name is not null`;
  const reached =
    label === undefined
      ? [byStatus("status", WAITS), byStatus("outcome", "instance.outcome is not null")].join("\n  union all")
      : byLabel(label);
  const text = `
with ${workflows},
share as materialized (select greatest(${most} / greatest(count(workflow.name), 1), 1) as entries from workflow)
select reached.ref from (${reached}
) as reached
order by reached.ref collate "C" ${direction}
limit 1`;
  const shape = [name, after].map((given) => (given === null ? 0 : 1)).join("");
  return {
    statement: { name: `reach_${order}_${shape}_${label === undefined ? 0 : 1}`, slow: true, text },
    values,
  };
}

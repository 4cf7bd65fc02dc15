import type { InstanceFilter } from "../../instances/instance-records.ts";
import { RECORD } from "./instance-record.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";
import { inCatalogOrder, isInstanceOf, READS_ROW } from "./statement.ts";
import { workflowNames } from "./workflow-names.ts";

type Label = InstanceFilter["labels"][number];

/** A filter as a statement and its values. What isn't asked for isn't in the statement: each condition narrows down the index. */
export function listInstances(
  schema: SchemaPrefix,
  filter: InstanceFilter,
): { readonly statement: Statement; readonly values: unknown[] } {
  const { namespace, name, statuses, labels, after, order, limit } = filter;
  const [first, ...others] = labels;
  const inOrder = inCatalogOrder(schema);
  const values: unknown[] = [namespace];
  const value = (given: unknown, type: string) => `$${values.push(given)}::${type}`;
  const [comparison, direction] = order === "oldest" ? [">", "asc"] : ["<", "desc"];
  const workflows = name === null ? workflowNames(schema) : `workflow(name) as (select ${value(name, "text")})`;
  const most = value(limit, "bigint");
  const wanted = value(statuses, "text[]");
  const begun = after === null ? null : value(after, "text");
  // Of a row that a label names, times are expressions: PostgreSQL must not look for them in instance_status.
  const time = (column: string) => (first === undefined ? column : `(${column} + 0)`);
  const conditions = [
    ...compare(time("instance.created_at"), ">=", filter.createdFrom, value),
    ...compare(time("instance.created_at"), "<", filter.createdBefore, value),
    ...compare(time("instance.finished_at"), ">=", filter.finishedFrom, value),
    ...compare(time("instance.finished_at"), "<", filter.finishedBefore, value),
  ];
  const beyond = (table: string, collation: string) =>
    begun === null ? "" : `and ${table}.ref ${collation} ${comparison} ${begun}`;
  const byStatus = `
  unnest(${wanted}) as wanted(status)
  cross join lateral (
    select instance.ref from ${schema}instance as instance
    where instance.namespace = $1 ${inOrder} and instance.name = workflow.name ${inOrder}
      and instance.status = wanted.status ${inOrder} ${beyond("instance", inOrder)} ${conditions.map((condition) => `and ${condition}`).join(" ")}
    order by instance.ref ${inOrder} ${direction}
    limit ${most}
  ) as found`;
  const byLabel = ([key, label]: Label, others: readonly Label[]) => `lateral (
    select label.ref from ${schema}label as label
    cross join lateral (
      select 1 from ${schema}instance as instance
      where ${isInstanceOf("instance", "label")} and ${READS_ROW} and instance.status = any (${wanted})
        ${[...conditions, ...others.map(has)].map((condition) => `and ${condition}`).join(" ")}
      limit 1
    ) as instance
    where label.namespace = $1 and label.name = workflow.name and label.key = ${value(key, "text")} and label.value = ${value(label, "text")}
      ${beyond("label", "")}
    order by label.ref ${direction}
    limit ${most}
  ) as found`;
  const has = ([key, label]: Label) => `exists (
          select from ${schema}label as other
          where other.namespace = $1 and other.name = workflow.name and other.key = ${value(key, "text")}
            and other.value = ${value(label, "text")} and other.ref = label.ref
        )`;
  const text = `
with ${workflows},
page as materialized (
  select found.ref from workflow cross join ${first === undefined ? byStatus : byLabel(first, others)}
  where workflow.name is not null
  order by found.ref ${direction}
  limit ${most}
)
select ${RECORD}
from page
cross join lateral (select * from ${schema}instance as instance where ${isInstanceOf("instance", "page")} limit 1) as instance
order by page.ref ${direction}`;
  const times = [filter.createdFrom, filter.createdBefore, filter.finishedFrom, filter.finishedBefore];
  const shape = [name, after, ...times].map((given) => (given === null ? 0 : 1)).join("");
  return { statement: { name: `list_${order}_${shape}_${labels.length}`, slow: true, text }, values };
}

function compare(
  column: string,
  comparison: string,
  time: number | null,
  value: (given: unknown, type: string) => string,
): string[] {
  return time === null ? [] : [`${column} ${comparison} ${value(time, "bigint")}`];
}

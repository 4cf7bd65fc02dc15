import type { InstanceFilter } from "../../../instances/instance-records.ts";
import { WorkClass } from "../../../queue/work-class.ts";
import {
  IN_QUEUE_ORDER,
  inCatalogOrder,
  indexedBatch,
  isInstanceOf,
  isNamedBy,
  NOW,
  READS_ROW,
  type SchemaPrefix,
  type Statement,
  WAITS,
} from "../statement.ts";

/** The columns of an instance as operators see it. */
export const INSTANCE_RECORD = `instance.namespace, instance.name, instance.id, instance.version, instance.ref, instance.run, instance.status,
  instance.params::text as params, instance.output::text as output, instance.error::text as error,
  instance.rollback::text as rollback, instance.labels::text as labels,
  instance.priority, instance.schedule::text as schedule, instance.trace, instance.parent, instance.slot_key, instance.rate_key,
  instance.created_at, instance.started_at, instance.finished_at, instance.available_at`;

/** Unfinished instances with a timeout, the earliest deadlines first. Index: instance_deadline. */
export function findDeadlines(schema: SchemaPrefix): Statement {
  return {
    name: "find_deadlines",
    text: `
select instance.namespace, instance.name, instance.id, instance.ref, instance.run, instance.timeout, instance.deadline, ${NOW} as now
from ${schema}instance as instance
where instance.namespace = $2 and instance.deadline is not null and instance.outcome is null and instance.rolling_back is null
  and instance.name = any ($3::text[])
order by instance.deadline, instance.ref
limit $4`,
  };
}

/** Instances by workflow and id. Index: instance_id. */
export function findInstances(schema: SchemaPrefix): Statement {
  return {
    name: "find_instances",
    planOnce: true,
    text: `
select item.index, ${INSTANCE_RECORD}
from ${indexedBatch(1, { namespace: "text", name: "text", id: "text" })} as item
cross join lateral (
  select * from ${schema}instance as instance where ${isNamedBy("instance", "item")} limit 1
) as instance`,
  };
}

type Label = InstanceFilter["labels"][number];

/** Adds a value to those of a statement, and returns its parameter. */
export type AddValue = (given: unknown, type: string) => string;

/**
 * A filter as a statement and its values. The statement has only the conditions that the filter has, so that each narrows the
 * index. Indexes: instance_waiting, instance_finished and instance_due, or label_pkey; instance_pkey, and instance_id for the
 * names of workflows.
 */
export function listInstances(
  schema: SchemaPrefix,
  filter: InstanceFilter,
): { readonly statement: Statement; readonly values: unknown[] } {
  const values: unknown[] = [filter.namespace];
  const value: AddValue = (given, type) => `$${values.push(given)}::${type}`;
  const text = `
${withPage(schema, filter, value)}
select ${INSTANCE_RECORD}
from page
cross join lateral (select * from ${schema}instance as instance where ${isInstanceOf("instance", "page")} limit 1) as instance
order by page.ref ${directionOf(filter)}`;
  return { statement: { name: `list_${shapeOf(filter)}`, slow: true, text }, values };
}

export function directionOf({ order }: InstanceFilter): "asc" | "desc" {
  return order === "oldest" ? "asc" : "desc";
}

/** Of statements with the same conditions. */
export function shapeOf(filter: InstanceFilter): string {
  const { name, after, until = null, labels, order, createdFrom, createdBefore, finishedFrom, finishedBefore } = filter;
  const times = [createdFrom, createdBefore, finishedFrom, finishedBefore];
  return `${order}_${[name, after, until, ...times].map((given) => (given === null ? 0 : 1)).join("")}_${labels.length}`;
}

/**
 * Begins a statement: the refs of a page of instances ($1 is the namespace), or of those of some instances that the filter
 * leaves. Indexes: see `listInstances`; instance_pkey and label_pkey among some.
 */
export function withPage(
  schema: SchemaPrefix,
  filter: InstanceFilter,
  value: AddValue,
  among: readonly string[] | null = null,
): string {
  const { name, statuses, labels, after, until = null, order, limit } = filter;
  const [first, ...others] = labels;
  const inOrder = inCatalogOrder(schema);
  const direction = directionOf(filter);
  const [from, to] = order === "oldest" ? [">", "<="] : ["<", ">="];
  const workflows = name === null ? workflowNames(schema) : `workflow(name) as (select ${value(name, "text")})`;
  const most = value(limit, "bigint");
  const wanted = value(statuses, "text[]");
  const begun = after === null ? null : value(after, "text");
  const end = until === null ? null : value(until, "text");
  // Where a label or a ref names the row, times are expressions, so that PostgreSQL doesn't look for them in instance_finished.
  const time = (column: string) => (first === undefined && among === null ? column : `(${column} + 0)`);
  const conditions = [
    ...compare(time("instance.created_at"), ">=", filter.createdFrom, value),
    ...compare(time("instance.created_at"), "<", filter.createdBefore, value),
    ...compare(time("instance.finished_at"), ">=", filter.finishedFrom, value),
    ...compare(time("instance.finished_at"), "<", filter.finishedBefore, value),
  ];
  const beyond = (table: string, collation: string) =>
    [
      begun === null ? "" : `and ${table}.ref ${collation} ${from} ${begun}`,
      end === null ? "" : `and ${table}.ref ${collation} ${to} ${end}`,
    ].join(" ");
  const matches = conditions.map((condition) => `and ${condition}`).join(" ");
  const byStatus = (column: "status" | "outcome", which: string) => `
  select found.ref from workflow cross join unnest(${wanted}) as wanted(status) cross join lateral (
    select instance.ref from ${schema}instance as instance
    where ${which} and instance.namespace = $1 ${inOrder} and instance.name = workflow.name ${inOrder}
      and instance.${column} = wanted.status ${inOrder} ${beyond("instance", inOrder)} ${matches}
    order by instance.ref ${inOrder} ${direction}
    limit ${most}
  ) as found
  where workflow.name is not null`;
  const held = `(
    select instance.ref from ${schema}instance as instance
    where ${heldIn("$1")} and instance.status = any (${wanted}) ${name === null ? "" : "and instance.name = (select workflow.name from workflow)"}
      ${beyond("instance", IN_QUEUE_ORDER)} ${matches}
    order by instance.ref ${IN_QUEUE_ORDER} ${direction}
    limit ${most}
  )`;
  const anywhere = () =>
    [byStatus("status", WAITS), byStatus("outcome", "instance.outcome is not null"), held].join("\n  union all");
  const has = (table: string, [key, label]: Label) => `and exists (
          select from ${schema}label as other
          where other.namespace = $1 and other.name = workflow.name and other.key = ${value(key, "text")}
            and other.value = ${value(label, "text")} and other.ref = ${table}.ref
        )`;
  const byLabel = ([key, label]: Label) => `select found.ref from workflow cross join lateral (
    select label.ref from ${schema}label as label
    cross join lateral (
      select 1 from ${schema}instance as instance
      where ${isInstanceOf("instance", "label")} and ${READS_ROW} and instance.status = any (${wanted})
        ${matches} ${others.map((other) => has("label", other)).join(" ")}
      limit 1
    ) as instance
    where label.namespace = $1 and label.name = workflow.name and label.key = ${value(key, "text")} and label.value = ${value(label, "text")}
      ${beyond("label", "")}
    order by label.ref ${direction}
    limit ${most}
  ) as found
  where workflow.name is not null`;
  const byRef = (refs: readonly string[]) => `select item.ref from ${batchOf(value(refs, "text[]"))} as item
  cross join lateral (
    select 1 from ${schema}instance as instance cross join workflow
    where ${isInstanceOf("instance", "item")} and ${READS_ROW} and (instance.namespace || '') = $1
      and (instance.name || '') = workflow.name and instance.status = any (${wanted})
      ${matches} ${labels.map((label) => has("item", label)).join(" ")}
    limit 1
  ) as instance
  where true ${beyond("item", 'collate "C"')}`;
  const found = among !== null ? byRef(among) : first === undefined ? anywhere() : byLabel(first);
  return `with ${workflows},
page as materialized (
  select found.ref from (
  ${found}
  ) as found
  order by found.ref collate "C" ${direction}
  limit ${most}
)`;
}

function batchOf(refs: string): string {
  return `(select * from unnest((select ${refs})) as item(ref) limit (select null::bigint))`;
}

function compare(
  column: string,
  comparison: string,
  time: number | null,
  value: (given: unknown, type: string) => string,
): string[] {
  return time === null ? [] : [`${column} ${comparison} ${value(time, "bigint")}`];
}

/**
 * The instances of a namespace that their owners hold. They aren't in the order of refs there, so a statement that sorts them
 * asks for a collation that no index of refs has, or PostgreSQL would read the primary key from end to end. Index:
 * instance_due, its leased lane.
 */
export function heldIn(namespace: string): string {
  return `instance.namespace = ${namespace} ${IN_QUEUE_ORDER} and instance.class = ${WorkClass.leased} and instance.available_at is not null
      and instance.lock is not null and instance.outcome is null`;
}

/**
 * Workflows that have unfinished instances and that this process doesn't know. The orders are those of the indexes, so that
 * PostgreSQL doesn't look for one row in all of the table. Indexes: instance_id, instance_waiting,
 * instance_due.
 */
export function unknownNames(schema: SchemaPrefix): Statement {
  const inOrder = inCatalogOrder(schema);
  return {
    name: "unknown_names",
    slow: true,
    text: `
with ${workflowNames(schema)}
select workflow.name from workflow
cross join lateral (
  (
    select from ${schema}instance as instance
    where ${WAITS} and instance.namespace = $1 ${inOrder} and instance.name = workflow.name ${inOrder}
      and instance.status ${inOrder} in ('queued', 'waiting')
    order by instance.status ${inOrder}
    limit 1
  )
  union all
  (
    select from ${schema}instance as instance
    where ${heldIn("$1")} and instance.name = workflow.name and instance.status = 'running'
    order by instance.available_at
    limit 1
  )
  limit 1
) as unfinished
where workflow.name <> all ($2::text[])
limit 20`,
  };
}

/**
 * The first part of a statement: the names of all workflows that have instances in a namespace ($1). They are found one by one,
 * so the number of their instances doesn't matter. The last name is null. Index: instance_id.
 */
export function workflowNames(schema: SchemaPrefix): string {
  const next = (after: string) => `(
    select instance.name from ${schema}instance as instance where instance.namespace = $1 ${after} order by instance.name limit 1
  )`;
  return `recursive workflow(name) as (
  select ${next("")}
  union all
  select ${next("and instance.name > workflow.name")} from workflow where workflow.name is not null
)`;
}

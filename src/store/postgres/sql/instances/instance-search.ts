import { type InstanceSearch, MOST_ENTRIES_SEARCHED } from "../../../instances/instance-records.ts";
import { isInstanceOf, type SchemaPrefix, type Statement } from "../statement.ts";
import { type AddValue, directionOf, shapeOf, withPage, workflowNames } from "./instance-views.ts";

/**
 * Compares the instances of one page, or of some, with criteria. All of the page are returned. Indexes: instance_waiting,
 * instance_finished and instance_due, or label_pkey; instance_id for the names of workflows; instance_pkey; journal_pkey for
 * the name of a step.
 */
export function searchInstances(
  schema: SchemaPrefix,
  search: InstanceSearch,
): { readonly statement: Statement; readonly values: unknown[] } {
  const values: unknown[] = [search.namespace];
  const value: AddValue = (given, type) => `$${values.push(given)}::${type}`;
  const { idPrefix, version, parentPrefix, step, among, errors } = search;
  const page = withPage(schema, search, value, among);
  const criteria = [
    idPrefix === null ? "" : `starts_with(instance.id, ${value(idPrefix, "text")})`,
    version === null ? "" : `instance.version = ${value(version, "integer")}`,
    parentPrefix === null ? "" : `coalesce(starts_with(instance.parent, ${value(parentPrefix, "text")}), false)`,
    step === null ? "" : hasStep(schema, value(step, "text")),
  ];
  const matches = criteria.filter((condition) => condition !== "").join(" and ") || "true";
  const text = `
${page}
select instance.namespace, instance.name, instance.id, instance.ref, instance.run, compared.matches,
  case when compared.matches then ${errors ? "instance.error::text" : "null"} end as error
from page
cross join lateral (select * from ${schema}instance as instance where ${isInstanceOf("instance", "page")} limit 1) as instance
cross join lateral (select ${matches} as matches) as compared
order by page.ref ${directionOf(search)}`;
  const shape = [among, idPrefix, version, parentPrefix, step].map((given) => (given === null ? 0 : 1)).join("");
  return {
    statement: {
      name: `search_${shapeOf(search)}_${shape}${errors ? "_errors" : ""}`,
      slow: true,
      text,
    },
    values,
  };
}

function hasStep(schema: SchemaPrefix, step: string): string {
  return `exists (
    select from (
      select entry.name from ${schema}journal as entry
      where ${isInstanceOf("entry", "instance")} and entry.run = instance.run
      order by entry.position desc
      limit ${MOST_ENTRIES_SEARCHED}
    ) as recent
    where recent.name = ${step}
  )`;
}

/** Instances of a workflow ($5), or of all, whose ids are in a range. Index: instance_id. */
export function findRefsById(schema: SchemaPrefix, { all }: { all: boolean }): Statement {
  return {
    name: all ? "find_all_refs_by_id" : "find_refs_by_id",
    slow: true,
    text: `
with ${all ? workflowNames(schema) : "workflow(name) as (select $5::text)"}
select found.ref from workflow
cross join lateral (
  select instance.ref from ${schema}instance as instance
  where instance.namespace = $1 and instance.name = workflow.name and instance.id >= $2 and instance.id < $3
  order by instance.id
  limit $4::bigint
) as found
where workflow.name is not null
limit $4::bigint`,
  };
}

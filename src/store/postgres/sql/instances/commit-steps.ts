import { WorkClass } from "../../../queue/work-class.ts";
import { isInstanceOf, NOW, type SchemaPrefix, type Statement } from "../statement.ts";
import { WRITE_OUTCOME } from "./commit-instances.ts";

/** Whether some of the commits complete their instances. */
export type StepOutcomes = "running" | "finishing";

/** Parameters after the arrays: the same for all commits. */
const SAME = { run: "$7::int", type: "$8::text", count: "$9::int", attempt: "$10::int" };

/** As `HELD` in `commitInstances`, for items that have no run of their own. */
const HELD = `instance.class = ${WorkClass.leased} and instance.lock is not distinct from item.lock
    and instance.run is not distinct from ${SAME.run}`;

/** The ended ones among those that a finishing batch may have held. */
const ENDED = "string_agg(case when held.ended then held.index::text end, ',') as ended,";

/**
 * The same as `commitInstances` for the commonest batch: each commit has one completed step, and all have the same run, type,
 * count and attempt, which are sent once. Items and entries are the same rows, so they are unnested once, and the answer names
 * only the exceptions. The batch is in the order of refs, in which rows are locked and entries inserted.
 *
 * A value that isn't a single JSON value would make one item too many: that item has no ref, and its entry is an error.
 * Indexes: instance_pkey, journal_pkey.
 */
export function commitSteps(schema: SchemaPrefix, outcomes: StepOutcomes): Statement {
  return {
    name: `commit_steps_${outcomes}`,
    planOnce: true,
    text: `
with clock as materialized (select ${NOW} as now),
${outcomes === "running" ? goingOn(schema) : finishing(schema)}
select (select now from clock) as at, ${outcomes === "running" ? "" : ENDED}
  string_agg(case when held.wakes is null then held.index::text end, ',') as lost,
  string_agg(case when held.wakes <> 0 then held.index || ':' || held.wakes end, ',') as wakes,
  string_agg(case when held.paused then held.index::text end, ',') as paused
from held`,
  };
}

function goingOn(schema: SchemaPrefix): string {
  return `held as materialized (
  select item.index, item.ref, item.position, item.name, item.value, found.wakes, found.paused
  from ${items("")} as item ${lookUp(schema)}
),
written as (
  ${insertEntries(schema, "held")}
  where held.wakes is not null or held.ref is null
)`;
}

function finishing(schema: SchemaPrefix): string {
  return `item as materialized (select * from ${items("output")} as item),
ended as (
  update ${schema}instance as instance set
    ${WRITE_OUTCOME.finishing.replaceAll(/clock\.now/g, "(select now from clock)")}
  from (select item.index, item.ref, item.lock, item.output from item where item.output is not null offset 0) as item
  where ${isInstanceOf("instance", "item")} and ${HELD} and instance.waiters is null
  returning item.index, instance.wakes, instance.paused
),
held as materialized (
  select item.index, found.wakes, found.paused, false as ended
  from (select item.index, item.ref, item.lock from item where item.output is null) as item ${lookUp(schema)}
  union all
  select ended.index, ended.wakes, ended.paused, true from ended
),
written as (
  ${insertEntries(schema, "item")}
  where coalesce(item.index in (select held.index from held where held.wakes is not null), false) or item.ref is null
)`;
}

/**
 * The arrays $2 to $6, and the outputs of those that end as $11. PostgreSQL expects a hundred rows of the JSON array, and a
 * tenth of it for each limit: one row, as with a `batch`.
 */
function items(output: "" | "output"): string {
  const [array, column] = output === "" ? ["", ""] : [", $11::json[]", ", output"];
  return `(
    select * from (
      select * from rows from (unnest($2::text[], $3::text[], $4::int[], $5::text[]${array}), json_array_elements($6::json))
        with ordinality as item(ref, lock, position, name${column}, value, index)
      limit (select null::bigint)
    ) as item
    limit (select null::bigint)
  )`;
}

function lookUp(schema: SchemaPrefix): string {
  return `
  left join lateral (
    select instance.wakes, instance.paused from ${schema}instance as instance where instance.ref = item.ref and ${HELD} limit 1
  ) as found on true`;
}

function insertEntries(schema: SchemaPrefix, rows: string): string {
  const { run, type, count, attempt } = SAME;
  return `insert into ${schema}journal (ref, run, position, type, name, count, attempt, value, kind, at)
  select ${rows}.ref, ${run}, ${rows}.position, ${type}, ${rows}.name, ${count}, ${attempt}, ${rows}.value, 'completed', clock.now
  from clock cross join ${rows}`;
}

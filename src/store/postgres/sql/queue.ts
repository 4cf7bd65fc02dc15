import { NO_VERSION, UNDECIDED_VERSION, versionName } from "../../instances/instance-versions.ts";
import { WorkClass } from "../../queue/work-class.ts";
import { IN_QUEUE_ORDER, NOW, type SchemaPrefix, type Statement } from "./statement.ts";

/** Tables of claimable rows. Each has an index named after it (`hook_due`, `instance_due`), which ends with the key. */
export type QueueTable = "hook" | "instance";

/** Decides the order of rows that are due at the same time. Both are ids that rise with time. */
export const QUEUE_KEY = { hook: "id", instance: "ref" } as const;

/** Whether the lane names the hook, or the version of the workflow. Any version is right for an instance that has none yet. */
function isInScope(table: QueueTable): string {
  const isNamed = (name: string) => `${name} = any (lane.names::text[])`;
  if (table === "hook") return "work.name = any (lane.names::text[])";
  const version = `case when work.version <= ${NO_VERSION} then work.name else work.name || '@' || work.version end`;
  const undecided = versionName("", UNDECIDED_VERSION);
  return `(${isNamed(version)} or work.version = ${UNDECIDED_VERSION} and ${isNamed(`work.name || '${undecided}'`)})`;
}

/**
 * The first part of every claim: `taken` has the due rows, lane by lane, the oldest first within each, up to the limit. Rows
 * are locked one by one as they are taken, so a claim locks no row that it doesn't take. Rows that another claim is taking are
 * skipped.
 *
 * Of the rows that lost their owner, up to $9 are taken over that lost their first one; if there are none, one that lost
 * several.
 *
 * `since` is where an earlier claim stopped. The rows that it took have left entries in the index until the next vacuum, and
 * reading past all of them for every batch would make a long queue slow. The parts are materialized because a join that is
 * planned again could run the locking scan twice and exceed the limit.
 *
 * Parameters: $2 to $5 are the lanes and `since`, $6 the limit. `columns` are columns of `work` that the claim needs as they
 * were.
 * Index: hook_due or instance_due serves each lane in its order; sleeping rows are never read.
 */
export function takeDue(schema: SchemaPrefix, table: QueueTable, columns: string): string {
  const dueIn = (lanes: string, condition = "true") => `select next.*, lane.index from lane cross join lateral (
    select work.ctid, work.available_at as due_at, ${columns}
    from ${schema}${table} as work
    where work.namespace = lane.namespace ${IN_QUEUE_ORDER}
      and work.class = lane.class
      and work.available_at <= (select now from clock)
      and work.available_at >= lane.since
      and ${isInScope(table)}
      and ${condition}
    order by work.available_at, work.${QUEUE_KEY[table]}
    limit $6
    for update skip locked
  ) as next
  where ${lanes}`;
  return `clock as materialized (select ${NOW} as now),
lane as materialized (
  select * from unnest($2::text[], $3::smallint[], $4::text[], $5::bigint[])
    with ordinality as lane(namespace, class, names, since, index)
),
lost_once as materialized (
  ${dueIn(`lane.class = ${WorkClass.leased}`, "work.recoveries = 0")}
  limit least($9::int, $6::int)
),
lost_again as materialized (
  ${dueIn(`lane.class = ${WorkClass.leased}`, "work.recoveries > 0")}
  limit case when exists (select from lost_once) then 0 else least(1, $9::int) end
),
lost as not materialized (select * from lost_once union all select * from lost_again),
due as materialized (
  ${dueIn(`lane.class <> ${WorkClass.leased}`)}
  limit $6::int - (select count(*) from lost)
),
taken as not materialized (select * from lost union all select * from due)`;
}

/**
 * See `nextWake`. $5 is from which due time on to look in each lane, and $6 how far ahead. With the number of the first of its
 * two parameters, it also tells which names have due rows. `took` is how long PostgreSQL has read: see `QueueHorizon`.
 */
export function nextWakeOf(schema: SchemaPrefix, table: QueueTable, unclaimed?: number): string {
  return `
select min(earliest.available_at) - ${NOW} as remaining, ${NOW} as now,
  case when $1::bigint is null then extract(epoch from clock_timestamp() - statement_timestamp()) * 1000 else 0 end as took
  ${unclaimed === undefined ? "" : `, ${dueNames(schema, unclaimed)} as unclaimed`}
from unnest($2::text[], $3::smallint[], $4::text[], $5::bigint[]) as lane(namespace, class, names, since)
cross join lateral (
  select work.available_at
  from ${schema}${table} as work
  where work.namespace = lane.namespace ${IN_QUEUE_ORDER}
    and work.class = lane.class
    and work.available_at >= lane.since
    and ${NOW} + $6::bigint >= work.available_at
    and ${isInScope(table)}
  order by work.available_at, work.${QUEUE_KEY[table]}
  limit 1
) as earliest`;
}

/** The names of the due rows at the beginning of each lane. The parameters are the namespaces and the depth. */
function dueNames(schema: SchemaPrefix, first: number): string {
  const due = (table: QueueTable) => `
    select '${table}' as kind, space.namespace, work.name, work.since
    from unnest($${first}::text[]) as space(namespace)
    cross join unnest(array[${Object.values(WorkClass).join(", ")}]::smallint[]) as lane(class)
    cross join lateral (
      select work.name, case when work.available_at < 0 then work.created_at else work.available_at end as since
      from ${schema}${table} as work
      where work.namespace = space.namespace ${IN_QUEUE_ORDER} and work.class = lane.class
        and ${NOW} >= work.available_at
      order by work.available_at, work.${QUEUE_KEY[table]}
      limit $${first + 1}
    ) as work`;
  return `(
  select json_agg(json_build_array(head.kind, head.namespace, head.name, head.amount, head.since)) from (
    select due.kind, due.namespace, due.name, count(*) as amount, min(due.since) as since
    from (${due("hook")} union all ${due("instance")}) as due
    group by due.kind, due.namespace, due.name
  ) as head
)`;
}

/**
 * How long until the earliest row of these lanes is due, and perhaps which names have due rows. Index: hook_due or instance_due
 * gives the first entry of each lane.
 */
export function nextWake(table: QueueTable, unclaimed: boolean): (schema: SchemaPrefix) => Statement {
  return (schema) => ({
    name: `next_${table}_wake${unclaimed ? "_and_names" : ""}`,
    planOnce: true,
    text: nextWakeOf(schema, table, unclaimed ? 7 : undefined),
  });
}

/** The tokens that hold leases. Index: hook_due or instance_due, their leased lanes. */
export function leaseTokens(table: QueueTable): (schema: SchemaPrefix) => Statement {
  return (schema) => ({
    name: `${table}_lease_tokens`,
    text: `
select distinct work.lock
from ${schema}${table} as work
where work.namespace = any ($1::text[] ${IN_QUEUE_ORDER}) and work.class = ${WorkClass.leased} and work.available_at is not null and work.lock is not null`,
  });
}

/** The rows that are leased with one of these tokens. Index: hook_due or instance_due, their leased lanes. */
export function findLeased(table: QueueTable): (schema: SchemaPrefix) => Statement {
  const columns = table === "hook" ? "" : "work.name, work.ref, work.run, ";
  return (schema) => ({
    name: `find_leased_${table}s`,
    text: `
select work.namespace, work.id, ${columns}work.lock
from ${schema}${table} as work
where work.namespace = any ($1::text[] ${IN_QUEUE_ORDER}) and work.class = ${WorkClass.leased} and work.available_at is not null and work.lock = any ($2::text[])`,
  });
}

/**
 * Ends the leases of owners that are known to be gone, so that other workers take over. Index: hook_due or instance_due, their
 * leased lanes.
 */
export function expireLeases(table: QueueTable): (schema: SchemaPrefix) => Statement {
  return (schema) => ({
    name: `expire_${table}_leases`,
    text: `
update ${schema}${table} as work set available_at = ${NOW}
where work.namespace = any ($2::text[] ${IN_QUEUE_ORDER}) and work.class = ${WorkClass.leased} and work.available_at is not null and work.lock = any ($3::text[])`,
  });
}

import { LineKind } from "../../lines/line-records.ts";
import { WorkClass } from "../../queue/work-class.ts";
import { CLAIMED_COLUMNS } from "./instances/instance-leases.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";

/** Admits instances from lines that are due. Indexes: those that `admitFunction` names. */
export function admit(schema: SchemaPrefix): Statement {
  return {
    name: "admit",
    text: `
select admitted.line_index, ${CLAIMED_COLUMNS}
from ${schema}admit(
  $1::bigint, $2::text[], $3::text[], $4::text[], $5::integer[], $6::integer[], $7::bigint[], $8::integer, $9::text, $10::bigint,
  $11::integer, $12::integer, $13::integer, $14::bigint
) as admitted
cross join lateral (select (admitted.claimed).*) as instance
cross join lateral (select admitted.due_at, admitted.previously_started_at) as taken
cross join lateral (select admitted.claimed_at as now) as clock`,
  };
}

/**
 * The time until the next line is due. The limit, which is none, keeps the order of the index: PostgreSQL would read and sort
 * all lines if it expects few. Index: line_due gives the first entry of each namespace.
 */
export function nextLine(schema: SchemaPrefix): Statement {
  return {
    name: "next_line",
    planOnce: true,
    text: `
select min(earliest.available_at) - ${NOW} as remaining
from unnest($2::text[], $3::text[]) as scope(namespace, names)
cross join lateral (
  select line.available_at from (
    select line.available_at, line.name
    from ${schema}line as line
    where line.namespace = scope.namespace and line.available_at is not null
    order by line.available_at, line.key
    limit (select null::bigint)
  ) as line
  where line.name = any (scope.names::text[])
  limit 1
) as earliest`,
  };
}

/**
 * Unblocks all lines, because limits may have changed since they were blocked. It reads every line, as many as there are keys
 * in use, and finds those to write by their place in the table: PostgreSQL could choose to compare each with all others.
 * Index: line_pkey.
 */
export function openLines(schema: SchemaPrefix): Statement {
  return {
    name: "open_lines",
    slow: true,
    text: `
with closed as materialized (
  select line.ctid from ${schema}line as line
  where line.namespace = any ($2::text[]) and (line.blocked or line.available_at is null)
  for update skip locked
),
opened as (
  update ${schema}line as line set blocked = false, available_at = ${NOW} from closed where line.ctid = closed.ctid
)
select exists (select from ${schema}line as line where line.namespace = any ($2::text[])) as there`,
  };
}

/**
 * How many come before some places ($2 to $4) in the line of a key ($1), how many hold a slot of it, both up to a number ($5),
 * and when a worker looks at the line. The order keeps PostgreSQL from reading the whole table. Indexes: instance_slots or
 * instance_starts, line_pkey.
 */
export function readLine(schema: SchemaPrefix, kind: LineKind): Statement {
  const slots = kind === LineKind.slots;
  const member = slots
    ? `member.slot_key = $1 and member.class >= ${WorkClass.leased}`
    : `member.rate_key = $1 and member.slot_key is null and member.class >= ${WorkClass.lineContinuing}`;
  const held = `(
  select count(*) from (
    select from ${schema}instance as member where ${member} and member.class = ${WorkClass.leased}
    order by member.available_at, member.ref
    limit $5::bigint
  ) as found
)`;
  const before = `(
  select coalesce(sum(counted.ahead), 0) from unnest($2::integer[], $3::bigint[], $4::text[]) as place(class, available_at, ref)
  cross join lateral (
    select count(*) as ahead from (
      select from ${schema}instance as member
      where ${member} and member.class = place.class and (member.available_at, member.ref) < (place.available_at, place.ref)
      order by member.available_at, member.ref
      limit $5::bigint
    ) as found
  ) as counted
)`;
  return {
    name: slots ? "read_slot_line" : "read_start_line",
    planOnce: true,
    text: `
select ${before} as ahead, ${slots ? held : "0"} as held,
  (select line.available_at from ${schema}line as line where line.kind = ${kind} and line.key = $1) as available_at`,
  };
}

/** Claims a parked instance again, if there is a slot for it. Indexes: those that `reacquireSlotFunction` names. */
export function reacquireSlot(schema: SchemaPrefix): Statement {
  return {
    name: "reacquire_slot",
    text: `
select taken.is_full, instance.ref, instance.run, instance.lock, instance.wakes, instance.paused, taken.at
from ${schema}reacquire_slot($1::bigint, $2::text, $3::integer, $4::text, $5::text, $6::bigint, $7::text, $8::integer) as taken
cross join lateral (select (taken.claimed).*) as instance`,
  };
}

/**
 * A page ($4) of the lines of a namespace ($2) after a key ($3), with those inside and those that wait: how many, up to a
 * number ($6), and the first of them ($5). Each order is that of an index, and the limits are hidden from the planner, so that
 * PostgreSQL doesn't read whole tables. Indexes: line_pkey, and instance_slots or instance_starts.
 */
export function listLines(schema: SchemaPrefix, kind: LineKind): Statement {
  const slots = kind === LineKind.slots;
  const inLine = slots
    ? `member.slot_key = line.key and member.class >= ${WorkClass.leased}`
    : `member.rate_key = line.key and member.slot_key is null and member.class >= ${WorkClass.lineContinuing}`;
  const found = (condition: string, limit: string, columns = "") => `
    select ${columns} from ${schema}instance as member
    where ${inLine} and ${condition}
    order by member.available_at, member.ref
    limit (select ${limit})`;
  const count = (condition: string) => `(select count(*) from (${found(condition, "$6::bigint")}) as counted)`;
  const list = (condition: string) =>
    `(select coalesce(json_agg(listed), '[]'::json)::text from (${found(
      condition,
      "$5::bigint",
      "member.name, member.id, member.created_at, member.started_at",
    )}) as listed)`;
  const holds = `member.class = ${WorkClass.leased}`;
  const continues = `member.class = ${WorkClass.lineContinuing} and member.available_at <= ${NOW}`;
  const starts = `member.class = ${WorkClass.lineFresh} and member.available_at is not null`;
  return {
    name: slots ? "list_slot_lines" : "list_start_lines",
    planOnce: true,
    slow: true,
    text: `
select ${kind} as kind, line.key, line.namespace, line.name, line.available_at,
  ${slots ? count(holds) : "0"} as held, ${slots ? list(holds) : "'[]'"} as holders,
  ${count(continues)} as continuing, ${list(continues)} as next_continuing,
  ${count(starts)} as fresh, ${list(starts)} as next_fresh
from (
  select line.key, line.namespace, line.name, line.available_at from ${schema}line as line
  where line.kind = ${kind} and line.key > $3::text and line.namespace = $2::text
  order by line.key
  limit (select $4::bigint)
) as line
order by line.key`,
  };
}

import { IN_QUEUE_ORDER, indexedBatch, isSubjectOf, NOW, type SchemaPrefix, type Statement } from "./statement.ts";
import { SUBJECT_RECORD } from "./subjects.ts";

/** Parameters: $2 and $3 are the scope, $4 the owner, $5 the lease, $6 the latest due time, $7 the limit. */
const CLOCK = `clock as materialized (select ${NOW} as now, least(${NOW}, $6::bigint) as due_by)`;
const SCOPE = `subject.profile = $2 ${IN_QUEUE_ORDER} and subject.dispatcher_id = $3`;
const DUE = "subject.available_at <= (select due_by from clock)";

/**
 * The subjects that have been due longest, locked one by one as they are taken. Rows that another claim is taking are skipped.
 */
function takeOldest(schema: SchemaPrefix, { limit, without = "" }: { limit: string; without?: string }): string {
  return `
  select subject.ctid, subject.available_at as claimed_due_at, subject.subject_key
  from ${schema}subject as subject
  where ${SCOPE} and ${DUE} ${without}
  order by subject.available_at, subject.subject_key
  limit ${limit}
  for update skip locked
`;
}

/** Finds the rows by `ctid`, one by one: the limit, which is none, makes PostgreSQL expect few of them. */
function lease(schema: SchemaPrefix): string {
  return `claimed as (
  update ${schema}subject as subject set
    status = 'leased', lease_owner = $4, available_at = clock.now + $5::bigint,
    attempts = subject.attempts + 1, timeouts = subject.timeouts + case when subject.lease_owner is null then 0 else 1 end,
    last_started_at = clock.now, revision = subject.revision + 1, updated_at = clock.now
  from clock cross join (select * from taken limit (select null::bigint)) as item
  where subject.ctid = item.ctid
  returning ${SUBJECT_RECORD}, item.claimed_due_at
)`;
}

/**
 * Claims the subjects that have been due longest, expired leases included. Index: subject_due; resting subjects are never read.
 */
export function claimSubjects(schema: SchemaPrefix): Statement {
  return {
    name: "claim_subjects",
    planOnce: true,
    text: `
with ${CLOCK},
taken as materialized (${takeOldest(schema, { limit: "$7::int" })}),
${lease(schema)}
select claimed.* from claimed`,
  };
}

/**
 * Visits the groups that have due subjects, starting after the group where the last claim ended, and claims the same number
 * from each; then claims those that have been due longest, of any group. Groups are found one by one, so the number of their
 * subjects doesn't matter. $8 is how many subjects are claimed in turns, $9 the group that the last claim ended with, $10 how
 * many groups to visit. Indexes: subject_group_due, subject_due.
 */
export function claimSubjectsInTurns(schema: SchemaPrefix): Statement {
  const groupAfter = (group: string) => `(
    select subject.group_key from ${schema}subject as subject
    where ${SCOPE} and subject.group_key > ${group} and subject.available_at is not null
    order by subject.group_key limit 1
  )`;
  const nextGroup = (group: string) => `select coalesce(${groupAfter(group)}, ${groupAfter("''")}) as group_key`;
  return {
    name: "claim_subjects_in_turns",
    planOnce: true,
    text: `
with recursive ${CLOCK},
walk(group_key, origin, index) as (
  select start.group_key, start.group_key, 1 from (${nextGroup("$9::text")}) as start where start.group_key is not null
  union all
  select next.group_key, walk.origin, walk.index + 1
  from walk cross join lateral (${nextGroup("walk.group_key")}) as next
  where walk.index < $10::int and next.group_key <> walk.origin
),
due_group as materialized (
  select walk.group_key, walk.index from walk cross join lateral (
    select from ${schema}subject as subject where ${SCOPE} and subject.group_key = walk.group_key and ${DUE}
    order by subject.available_at limit 1
  ) as due
  order by walk.index
  limit $8::int
),
turn as materialized (
  select due_group.group_key, row_number() over (order by due_group.index) as turn, count(*) over () as turns from due_group
),
in_turns as materialized (
  select next.* from turn cross join lateral (
    select subject.ctid, subject.available_at as claimed_due_at, subject.subject_key
    from ${schema}subject as subject
    where ${SCOPE} and subject.group_key = turn.group_key and ${DUE}
    order by subject.available_at, subject.subject_key
    limit $8::int / turn.turns + case when turn.turn <= $8::int % turn.turns then 1 else 0 end
    for update skip locked
  ) as next
),
oldest as materialized (${takeOldest(schema, {
      limit: "$7::int - (select count(*) from in_turns)",
      without: "and subject.subject_key <> all (array(select in_turns.subject_key from in_turns))",
    })}),
taken as materialized (select * from in_turns union all select * from oldest),
${lease(schema)}
select claimed.*, coalesce(
  (select turn.group_key from turn order by turn.turn desc limit 1),
  (select walk.group_key from walk order by walk.index desc limit 1)
) as last_group
from claimed`,
  };
}

const RENEWAL = { profile: "text", dispatcher_id: "text", subject_key: "text", revision: "bigint" };

/** Extends leases, each only at the revision that its owner knows. The batch is in the order of keys. Index: subject_pkey. */
export function renewSubjects(schema: SchemaPrefix): Statement {
  return {
    name: "renew_subjects",
    planOnce: true,
    text: `
update ${schema}subject as subject set available_at = clock.now + $2::bigint
from (select ${NOW} as now) as clock
cross join ${indexedBatch(3, RENEWAL)} as item
where ${isSubjectOf("subject", "item")}
  and subject.revision = item.revision and subject.lease_owner is not null
returning item.index`,
  };
}

/** The time until the next subject is due. Index: subject_due gives the first entry. */
export function nextSubjectWake(schema: SchemaPrefix): Statement {
  return {
    name: "next_subject_wake",
    planOnce: true,
    text: `
select subject.available_at - ${NOW} as remaining
from ${schema}subject as subject
where subject.profile = $2 ${IN_QUEUE_ORDER} and subject.dispatcher_id = $3 and subject.available_at is not null
order by subject.available_at, subject.subject_key
limit 1`,
  };
}

import type { Client } from "pg";
import type { SubjectStatements } from "../../../../src/store/subjects/subject-statements.ts";
import { ALL_ROWS, type PlannedTables } from "./misled-plans.ts";
import { recordSubjectStatements } from "./recorded-statements.ts";

const BATCH = 500;
const scope = { profile: "p", dispatcherId: "inventory" };
const keyOf = (kind: string, number: number) => `${kind}-${String(number).padStart(6, "0")}`;
const leased = Array.from({ length: BATCH }, (_, index) => ({
  ...scope,
  subjectKey: keyOf("leased", index + 1),
  revision: 2,
}));
const discovered = leased.map(({ subjectKey }, index) => ({
  subjectKey: index % 2 ? subjectKey : keyOf("resting", index + 1),
  group: "g",
  cursor: '{"page":2}',
  meta: "{}",
  dueAt: 5,
}));
const claim = { ...scope, limit: 50, leaseMs: 1000, owner: "me", dueBy: null };
const nothing = { cursor: null, meta: null, dueAt: null, delayMs: null, leaseMs: null, error: null };

type Use = (subjects: SubjectStatements) => Promise<unknown>;
const KEY = ["subject_pkey"];

const STATEMENTS: [string, Use, string[], number?][] = [
  ["claim subjects", (subjects) => subjects.claim({ ...claim, fair: null }), ["subject_due"]],
  [
    "claim subjects from each group in turn",
    (subjects) => subjects.claim({ ...claim, fair: { limit: 25, after: "tenant-05", groups: 200 } }),
    ["subject_due", "subject_group_due"],
  ],
  ["find the next wake of subjects", (subjects) => subjects.nextWake(scope), ["subject_due"]],
  [
    "change subjects",
    (subjects) =>
      subjects.change(
        leased.map((one, index) => ({ ...one, ...nothing, changeId: `change ${index}`, kind: "complete" })),
        { resent: false },
      ),
    KEY,
  ],
  ["renew leases of subjects", (subjects) => subjects.renew(leased, 1000), KEY],
  ["sync subjects", (subjects) => subjects.sync({ ...scope, subjects: discovered, keepProgress: false }), KEY],
  ["find subjects", (subjects) => subjects.find(leased), KEY],
  [
    "list subjects",
    (subjects) => subjects.list({ ...scope, status: null, group: null, after: keyOf("leased", 5), limit: 100 }),
    KEY,
  ],
  [
    "retire subjects",
    (subjects) => subjects.retire({ ...scope, dispatcherId: "quiet" }, [keyOf("leased", 1)]),
    KEY,
    ALL_ROWS,
  ],
];

const SIZES = {
  few: { resting: 60, leased: 3, due: 3 },
  some: { resting: 1000, leased: 1000, due: 1000 },
  many: { resting: 60_000, leased: 20_000, due: 20_000 },
};

export const SUBJECTS: PlannedTables = {
  tables: ["perdure.subject"],
  fill: (client, size) => fill(client, SIZES[size]),
  statements: STATEMENTS.map(([purpose, use, indexes, most = BATCH * 6]) => [
    purpose,
    () => recordSubjectStatements(use),
    indexes,
    most,
  ]),
  mostRows: BATCH * 6,
};

/**
 * Subjects that rest (every second one until the year 2096, the others until they are discovered), that are leased until then
 * (but for one whose owner was lost), and that are due since 1970; in ten groups each, but for every third.
 */
async function fill(client: Client, counts: { resting: number; leased: number; due: number }): Promise<void> {
  await client.query(
    `insert into perdure.subject
      (profile, dispatcher_id, subject_key, group_key, status, revision, available_at, due_at, lease_owner, cursor, meta, created_at, updated_at)
    select 'p', 'inventory', kind || '-' || lpad(number::text, 6, '0'),
      case when number % 3 > 0 then 'tenant-' || lpad((number % 10)::text, 2, '0') end,
      case kind when 'leased' then 'leased' else 'idle' end, 2,
      due.at, due.at,
      case kind when 'leased' then 'owner' end, '{"page":1}', json_build_object('id', repeat('x', 50)), 0, 0
    from (values ('resting', $1::int), ('leased', $2::int), ('due', $3::int)) as kinds(kind, count),
      generate_series(1, count) as number,
      lateral (select case when kind = 'resting' and number % 2 = 0 then null
        when kind = 'due' or kind = 'leased' and number = 1 then number else 4000000000000 + number end as at) as due`,
    [counts.resting, counts.leased, counts.due],
  );
}

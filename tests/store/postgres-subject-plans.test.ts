import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SubjectStatements } from "../../src/store/subjects/subject-statements.ts";
import { createDatabase, type TestDatabase } from "../support/postgres-database.ts";
import {
  explain,
  type PlanMode,
  type PlanNode,
  prepare,
  type RecordedStatement,
  recordSubjectStatements,
} from "../support/postgres-plans.ts";

/** Like the plans of hooks: PostgreSQL last looked when there was next to nothing, and a hundred thousand rows came since. */

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

/** What is asked, and the indexes that serve it. */
const STATEMENTS: [string, Use, string[]][] = [
  ["claim", (subjects) => subjects.claim({ ...claim, fair: null }), ["subject_due"]],
  [
    "claim in turns",
    (subjects) => subjects.claim({ ...claim, fair: { limit: 25, after: "tenant-05", groups: 200 } }),
    ["subject_due", "subject_group_due"],
  ],
  ["next wake", (subjects) => subjects.nextWake(scope), ["subject_due"]],
  [
    "change",
    (subjects) =>
      subjects.change(
        leased.map((one, index) => ({ ...one, ...nothing, changeId: `change ${index}`, kind: "complete" })),
        { resent: false },
      ),
    KEY,
  ],
  ["renew", (subjects) => subjects.renew(leased, 1000), KEY],
  ["sync", (subjects) => subjects.sync({ ...scope, subjects: discovered, keepProgress: false }), KEY],
  ["find", (subjects) => subjects.find(leased), KEY],
  [
    "list",
    (subjects) => subjects.list({ ...scope, status: null, group: null, after: keyOf("leased", 5), limit: 100 }),
    KEY,
  ],
];

/** What the table was like when PostgreSQL last looked, and when connections planned what they plan once. */
const BELIEFS: [string, (client: Client) => Promise<unknown>][] = [
  ["is new", async () => {}],
  [
    "has a few rows",
    async (client) => {
      await fill(client, { resting: 60, leased: 3, due: 3 });
      await client.query("vacuum analyze perdure.subject");
      await client.query("delete from perdure.subject");
    },
  ],
  [
    "was emptied",
    async (client) => {
      await fill(client, { resting: 1000, leased: 1000, due: 1000 });
      await client.query("delete from perdure.subject");
      await client.query("vacuum analyze perdure.subject");
    },
  ],
];

describe.each(BELIEFS)(
  "PostgreSQL reads only what it needs of subjects, when it believes that their table %s",
  (_, misled) => {
    let database: TestDatabase;
    let client: Client;
    const prepared = new Set<string>();

    async function explainAll(use: Use, indexes: readonly string[], planMode: (planOnce: boolean) => PlanMode) {
      const used = new Set<string>();
      for (const recorded of await recordSubjectStatements(use)) {
        const nodes = await explain(client, recorded, planMode(recorded.statement.planOnce === true));
        expectSmall(nodes, recorded);
        for (const { index } of nodes) if (index !== undefined) used.add(index);
      }
      expect([...used].sort()).toEqual(indexes);
    }

    beforeAll(async () => {
      database = await createDatabase({ empty: false });
      client = new Client({ connectionString: database.url });
      await client.connect();
      await client.query("alter table perdure.subject set (autovacuum_enabled = false)");
      await misled(client);
      for (const [, use] of STATEMENTS) {
        for (const recorded of await recordSubjectStatements(use)) {
          if (prepared.has(recorded.statement.name)) continue;
          prepared.add(recorded.statement.name);
          await prepare(client, recorded.statement);
          await explain(client, recorded, "force_generic_plan");
        }
      }
      await fill(client, { resting: 60_000, leased: 20_000, due: 20_000 });
    });
    afterAll(async () => {
      await client.end();
      await database.drop();
    });

    test.each(STATEMENTS)("%s", async (__, use, indexes) => {
      await explainAll(use, indexes, (planOnce) => (planOnce ? "force_generic_plan" : "force_custom_plan"));
    });

    describe("and when it has looked again", () => {
      beforeAll(() => client.query("analyze perdure.subject").then(() => {}));

      test.each(STATEMENTS)("%s", async (__, use, indexes) => {
        await explainAll(use, indexes, () => "force_generic_plan");
        await explainAll(use, indexes, () => "force_custom_plan");
      });
    });
  },
);

/**
 * Subjects that rest (every second one until the year 2096, the others until they are discovered), that are leased until then (but
 * for one whose owner was lost), and that are due since 1970; in ten groups each, but for every third.
 */
async function fill(client: Client, counts: { resting: number; leased: number; due: number }): Promise<void> {
  await client.query(
    `insert into perdure.subject
      (profile, dispatcher_id, subject_key, group_key, status, revision, available_at, due_at, lease_owner, cursor, meta, created_at, updated_at)
    select 'p', 'inventory', kind || '-' || lpad(number::text, 6, '0'),
      case when number % 3 > 0 then 'tenant-' || lpad((number % 10)::text, 2, '0') end,
      case kind when 'leased' then 'leased' else 'idle' end, 2,
      due.at, due.at,
      case kind when 'leased' then 'somebody' end, '{"page":1}', json_build_object('id', repeat('x', 50)), 0, 0
    from (values ('resting', $1::int), ('leased', $2::int), ('due', $3::int)) as kinds(kind, count),
      generate_series(1, count) as number,
      lateral (select case when kind = 'resting' and number % 2 = 0 then null
        when kind = 'due' or kind = 'leased' and number = 1 then number else 4000000000000 + number end as at) as due`,
    [counts.resting, counts.leased, counts.due],
  );
}

/** A few rows for each that the statement is about. */
function expectSmall(nodes: readonly PlanNode[], { statement }: RecordedStatement): void {
  expect(
    nodes.map(({ type }) => type),
    statement.name,
  ).not.toContain("Seq Scan");
  for (const node of nodes) expect(node.rowsRead, `${statement.name}: ${JSON.stringify(node)}`).toBeLessThan(BATCH * 6);
}

import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HookInsert, HookOutcome } from "../../src/store/hooks/hook-records.ts";
import type { HookStatements } from "../../src/store/hooks/hook-statements.ts";
import type { Statement } from "../../src/store/postgres/sql/statement.ts";
import { createDatabase, type TestDatabase } from "../support/postgres-database.ts";
import {
  explain,
  type PlanMode,
  type PlanNode,
  prepare,
  type RecordedStatement,
  recordStatements,
} from "../support/postgres-plans.ts";
import { COMPLETED, KEPT } from "../support/use-store.ts";

/**
 * Plans, not times: what PostgreSQL reads for a statement must not grow with the table. It is asked when it is misled: it has last
 * looked at a queue that was empty or nearly so, as queues often are, and a hundred thousand rows came since.
 */

const BATCH = 500;

const leases = Array.from({ length: BATCH }, (_, index) => {
  const id = `running-${String(index + 1).padStart(6, "0")}`;
  return { namespace: "app", id, lock: `lock-${index % 10}` };
});
const settle = (outcome: HookOutcome, keyed: boolean) => (hooks: HookStatements) =>
  hooks.settle(leases.map((lease) => ({ ...lease, keyed, outcome })));
const trigger = (index: number): HookInsert => ({
  namespace: "app",
  id: `new-${index}`,
  ownId: false,
  name: "greet",
  key: `key-${index}`,
  triggers: 1,
  triggeredAt: null,
  payload: "{}",
  retries: null,
  trace: null,
  processAt: null,
  debounce: null,
  lease: null,
});
const scopes = [{ namespace: "app", names: ["greet", "wave"] }];

const STATEMENTS: [string, (hooks: HookStatements) => Promise<unknown>][] = [
  ["claim", (hooks) => hooks.claim({ scopes, limit: 50, takeOver: true, lock: "me", leaseMs: 1000 })],
  ["next wake", (hooks) => hooks.nextWake(scopes, { takeOver: true })],
  ["renew", (hooks) => hooks.renew(leases, 1000)],
  ["settle as completed", settle(COMPLETED, false)],
  ["settle as completed with keys", settle(COMPLETED, true)],
  ["settle otherwise", settle(KEPT, true)],
  ["insert with keys", (hooks) => hooks.insert(Array.from({ length: BATCH }, (_, index) => trigger(index)))],
  ["lease tokens", (hooks) => hooks.leaseTokens(["app"])],
  ["count", (hooks) => hooks.count(leases.map((lease) => ({ ...lease, attempts: 1, recoveries: 0, begins: true })))],
  ["find leased", (hooks) => hooks.findLeased(["app"], ["lock-1"])],
  ["expire leases", (hooks) => hooks.expireLeases(["app"], ["lock-1"])],
];

/** What the table was like when PostgreSQL last looked, and when connections planned what they plan once. */
const BELIEFS: [string, (client: Client) => Promise<void>][] = [
  ["is new", async () => {}],
  [
    "has a few rows",
    async (client) => {
      await fill(client, { sleeping: 60, running: 3, due: 3 });
      await client.query("vacuum analyze perdure.hook");
      await client.query("delete from perdure.hook");
    },
  ],
  [
    "was worked off",
    async (client) => {
      await fill(client, { sleeping: 1000, running: 1000, due: 1000 });
      await client.query("delete from perdure.hook");
      await client.query("vacuum analyze perdure.hook");
    },
  ],
];

describe.each(BELIEFS)("PostgreSQL reads only what it needs, when it believes that the table %s", (_, misled) => {
  let database: TestDatabase;
  let client: Client;
  const explainAll = async (use: (typeof STATEMENTS)[0][1], mode: (statement: Statement) => PlanMode) => {
    for (const recorded of await recordStatements(use)) {
      expectSmall(await explain(client, recorded, mode(recorded.statement)), recorded);
    }
  };

  beforeAll(async () => {
    database = await createDatabase();
    client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query("alter table perdure.hook set (autovacuum_enabled = off)");
    await misled(client);
    const recorded = (await Promise.all(STATEMENTS.map(([, use]) => recordStatements(use)))).flat();
    const once = new Map(recorded.map((one) => [one.statement.name, one]));
    for (const one of once.values()) await prepare(client, one.statement);
    for (const one of once.values()) if (one.statement.planOnce) await explain(client, one, "force_generic_plan");
    await fill(client, { sleeping: 100_000, running: BATCH, due: 1000 });
  });

  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  test.each(STATEMENTS)("%s", async (__, use) => {
    await explainAll(use, ({ planOnce }) => (planOnce ? "force_generic_plan" : "force_custom_plan"));
  });

  describe("and when it has looked again", () => {
    beforeAll(() => client.query("analyze perdure.hook"));

    test.each(STATEMENTS)("%s", async (__, use) => {
      await explainAll(use, () => "force_generic_plan");
      await explainAll(use, () => "force_custom_plan");
    });
  });
});

/** Rows that sleep until the year 2096, rows that run until then, and rows that are due since 1970. */
async function fill(client: Client, counts: { sleeping: number; running: number; due: number }): Promise<void> {
  await client.query(
    `insert into perdure.hook
      (namespace, id, name, payload, created_at, triggered_at, attempts, class, available_at, lock, key)
    select 'app', kind || '-' || lpad(number::text, 6, '0'), 'greet', json_build_object('to', repeat('x', 50)), 0, 0, 0,
      case kind when 'running' then 2 else 1 end,
      case kind when 'due' then number else 4000000000000 + number end,
      case kind when 'running' then 'lock-' || (number - 1) % 10 end,
      case when kind <> 'due' and number % 2 = 0 then kind || number end
    from (values ('sleeping', $1::int), ('running', $2::int), ('due', $3::int)) as kinds(kind, count),
      generate_series(1, count) as number`,
    [counts.sleeping, counts.running, counts.due],
  );
}

/** A few rows for each that the statement is about, and no step that reads a table from end to end. */
function expectSmall(nodes: readonly PlanNode[], { statement }: RecordedStatement): void {
  const types = nodes.map(({ type }) => type);
  expect(types, statement.name).not.toContain("Seq Scan");
  expect(types, statement.name).not.toContain("Hash Join");
  expect(types, statement.name).not.toContain("Merge Join");
  for (const node of nodes) expect(node.rowsRead, `${statement.name}: ${JSON.stringify(node)}`).toBeLessThan(BATCH * 3);
  expect(nodes.some(({ index }) => index === "hook_due" || index === "hook_pkey")).toBe(true);
}

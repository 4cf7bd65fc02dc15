import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HookStatements } from "../../src/store/engine.ts";
import type { HookInsert, HookOutcome } from "../../src/store/hook-records.ts";
import { createDatabase, type TestDatabase } from "../support/postgres-database.ts";
import {
  explain,
  type PlanNode,
  prepare,
  type RecordedStatement,
  recordStatements,
} from "../support/postgres-plans.ts";
import { COMPLETED, KEPT } from "../support/use-store.ts";

/**
 * Plans, not times: what PostgreSQL reads for a statement must not grow with the table. It is asked at its most misled, too: when
 * it has last looked at an empty table, as it does whenever a queue has been worked off, and a hundred thousand rows came since.
 */

const SLEEPING = 100_000;
const RUNNING = 500;
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
  lease: null,
});
const scopes = [{ namespace: "app", names: ["greet", "wave"] }];

/** Statements that each connection plans once and keeps. */
const PLANNED_ONCE: [string, (hooks: HookStatements) => Promise<unknown>][] = [
  ["claim", (hooks) => hooks.claim({ scopes, limit: 50, takeOver: true, lock: "me", leaseMs: 1000 })],
  ["next wake", (hooks) => hooks.nextWake(scopes, { takeOver: true })],
];
/** Statements that are planned each time. */
const PLANNED_ANEW: [string, (hooks: HookStatements) => Promise<unknown>][] = [
  ["renew", (hooks) => hooks.renew(leases, 1000)],
  ["settle as completed", settle(COMPLETED, false)],
  ["settle as completed with keys", settle(COMPLETED, true)],
  ["settle otherwise", settle(KEPT, true)],
  ["insert with keys", (hooks) => hooks.insert(Array.from({ length: BATCH }, (_, index) => trigger(index)))],
  ["lease tokens", (hooks) => hooks.leaseTokens(["app"])],
  ["expire leases", (hooks) => hooks.expireLeases(["app"], ["lock-1"])],
];

describe("PostgreSQL reads only what it needs", () => {
  let database: TestDatabase;
  let client: Client;

  beforeAll(async () => {
    database = await createDatabase();
    client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query("alter table perdure.hook set (autovacuum_enabled = off)");
    await fill(client, 1000);
    await client.query("delete from perdure.hook");
    await client.query("vacuum analyze perdure.hook");
    const recorded = await Promise.all([...PLANNED_ONCE, ...PLANNED_ANEW].map(([, use]) => recordStatements(use)));
    const statements = new Map(recorded.flat().map(({ statement }) => [statement.name, statement]));
    for (const statement of statements.values()) await prepare(client, statement);
    for (const [, use] of PLANNED_ONCE) {
      for (const planned of await recordStatements(use)) await explain(client, planned, "force_generic_plan");
    }
    await fill(client, SLEEPING);
  });

  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  describe("when it believes that the table is empty", () => {
    it.each(PLANNED_ONCE)("%s, planned when it was", async (_, use) => {
      for (const recorded of await recordStatements(use)) {
        expectSmall(await explain(client, recorded, "force_generic_plan"), recorded);
      }
    });

    it.each(PLANNED_ANEW)("%s", async (_, use) => {
      for (const recorded of await recordStatements(use)) {
        expectSmall(await explain(client, recorded, "force_custom_plan"), recorded);
      }
    });
  });

  describe("when it knows the table", () => {
    beforeAll(() => client.query("analyze perdure.hook"));

    describe.each(["force_generic_plan", "force_custom_plan"] as const)("by %s", (planMode) => {
      it.each([...PLANNED_ONCE, ...PLANNED_ANEW])("%s", async (_, use) => {
        for (const recorded of await recordStatements(use)) {
          expectSmall(await explain(client, recorded, planMode), recorded);
        }
      });
    });
  });

  it("and plans anew what looks many rows up", async () => {
    const statements = await Promise.all(PLANNED_ANEW.map(([, use]) => recordStatements(use)));

    expect(statements.flat().filter(({ statement }) => statement.planOnce)).toEqual([]);
  });
});

/** Rows that sleep until the year 2096, rows that run until then, and rows that are due since 1970. */
async function fill(client: Client, sleeping: number): Promise<void> {
  await client.query(
    `insert into perdure.hook
      (namespace, id, name, payload, created_at, triggered_at, attempts, class, available_at, lock, key)
    select 'app', kind || '-' || lpad(number::text, 6, '0'), 'greet', json_build_object('to', repeat('x', 50)), 0, 0, 0,
      case kind when 'running' then 2 else 1 end,
      case kind when 'due' then number else 4000000000000 + number end,
      case kind when 'running' then 'lock-' || (number - 1) % 10 end,
      case when kind <> 'due' and number % 2 = 0 then kind || number end
    from (values ('sleeping', $1::int), ('running', $2::int), ('due', 1000)) as kinds(kind, count),
      generate_series(1, count) as number`,
    [sleeping, RUNNING],
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

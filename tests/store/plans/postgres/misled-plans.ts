import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Statement } from "../../../../src/store/postgres/sql/statement.ts";
import { createDatabase, type TestDatabase } from "../../../support/postgres-database.ts";
import { explain, type PlanMode, type PlanNode, prepare, type RecordedStatement } from "./recorded-statements.ts";

/** What statements are for, the indexes that they use, and how many rows each step may read, if that isn't `mostRows`. */
export type PlannedStatement = [
  purpose: string,
  record: () => Promise<RecordedStatement[]>,
  indexes: string[],
  most?: number,
];

export interface PlannedTables {
  readonly tables: readonly string[];
  /** Fills empty tables: with a few rows, with thousands, or with a hundred thousand. */
  readonly fill: (client: Client, size: TableSize) => Promise<void>;
  readonly statements: readonly PlannedStatement[];
  readonly mostRows: number;
}

/** For statements that read all rows of a namespace, which may be most of the table. */
export const ALL_ROWS = Number.POSITIVE_INFINITY;

export type TableSize = "few" | "some" | "many";

/** The tables when PostgreSQL last analyzed them, and when connections planned the statements that they plan once. */
const BELIEFS: [string, (client: Client, tables: PlannedTables) => Promise<void>][] = [
  ["were new", async () => {}],
  [
    "had a few rows",
    async (client, { fill, tables }) => {
      await fill(client, "few");
      for (const table of tables) await client.query(`vacuum analyze ${table}`);
      for (const table of tables) await client.query(`delete from ${table}`);
    },
  ],
  [
    "were emptied",
    async (client, { fill, tables }) => {
      await fill(client, "some");
      for (const table of tables) await client.query(`delete from ${table}`);
      for (const table of tables) await client.query(`vacuum analyze ${table}`);
    },
  ],
];

/**
 * Checks plans, not times: the rows that PostgreSQL reads for a statement must not grow with the table. PostgreSQL is misled on
 * purpose: it analyzed the tables when they were nearly empty, as queues often are, and a hundred thousand rows came since.
 * Then it analyzes them again.
 */
export function describeMisledPlans(planned: PlannedTables): void {
  const { tables, fill, statements, mostRows } = planned;

  describe.each(BELIEFS)(`PostgreSQL, which analyzed ${tables.join(", ")} when they %s,`, (_, misled) => {
    let database: TestDatabase;
    let client: Client;

    beforeAll(async () => {
      database = await createDatabase();
      client = new Client({ connectionString: database.url });
      await client.connect();
      for (const table of tables) await client.query(`alter table ${table} set (autovacuum_enabled = off)`);
      await misled(client, planned);
      await planOnce(client, planned);
      await fill(client, "many");
    });

    afterAll(async () => {
      await client.end();
      await database.drop();
    });

    test.each(statements)("reads only what it needs to %s", async (__, record, indexes, most = mostRows) => {
      const mode = ({ planOnce: once }: Statement) => (once ? "force_generic_plan" : "force_custom_plan");
      expectIndexes(await explainAll(client, await record(), mode, most), indexes, most);
    });

    describe("and again when they were full,", () => {
      beforeAll(async () => {
        for (const table of tables) await client.query(`analyze ${table}`);
      });

      test.each(statements)("reads only what it needs to %s", async (__, record, indexes, most = mostRows) => {
        for (const mode of ["force_generic_plan", "force_custom_plan"] as const)
          expectIndexes(await explainAll(client, await record(), () => mode, most), indexes, most);
      });
    });
  });
}

async function planOnce(client: Client, { statements, fill }: PlannedTables): Promise<void> {
  const recorded = (await Promise.all(statements.map(([, record]) => record()))).flat();
  const once = new Map(recorded.map((each) => [each.statement.name, each]));
  for (const each of once.values()) await prepare(client, each.statement);
  for (const each of once.values()) if (each.statement.planOnce) await explain(client, each, "force_generic_plan");
  // A function plans those of its statements that it gets to.
  for (const each of recorded)
    if (each.whole) await explain(client, each, "force_generic_plan", () => fill(client, "few"));
}

/** Returns the indexes that were used. */
async function explainAll(
  client: Client,
  recorded: readonly RecordedStatement[],
  mode: (statement: Statement) => PlanMode,
  most: number,
): Promise<string[]> {
  const used = new Set<string>();
  for (const each of recorded) {
    const nodes = await explain(client, each, mode(each.statement));
    expectSmall(nodes, each, most);
    for (const { index } of nodes) if (index !== undefined) used.add(index);
  }
  return [...used].sort();
}

/** A statement that reads all rows of a namespace may leave the index alone, where the namespace has most of the table. */
function expectIndexes(used: readonly string[], indexes: readonly string[], most: number): void {
  if (used.length > 0 || most !== ALL_ROWS) expect(used).toEqual([...indexes].sort());
}

/** A few rows for each item of the statement, and no table from end to end, unless any number of rows is allowed. */
function expectSmall(nodes: readonly PlanNode[], { statement }: RecordedStatement, most: number): void {
  for (const node of nodes) {
    const step = `${statement.name}: ${JSON.stringify(node)}`;
    if (most !== ALL_ROWS) expect(node.type, step).not.toBe("Seq Scan");
    expect(node.rowsRead, step).toBeLessThan(most);
  }
}

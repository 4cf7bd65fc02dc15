import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Statement } from "../../src/store/postgres/sql/statement.ts";
import { createDatabase, type TestDatabase } from "./postgres-database.ts";
import { explain, type PlanMode, type PlanNode, prepare, type RecordedStatement } from "./postgres-plans.ts";

/** What is asked, the indexes that serve it, and how many rows each step may read, if that isn't `mostRows`. */
export type PlannedStatement = [
  what: string,
  record: () => Promise<RecordedStatement[]>,
  indexes: string[],
  most?: number,
];

export interface PlannedTables {
  /** What the tables are about. */
  readonly about: string;
  readonly tables: readonly string[];
  /** Fills empty tables: with a few rows, with thousands, or with a hundred thousand. */
  readonly fill: (client: Client, size: TableSize) => Promise<void>;
  readonly statements: readonly PlannedStatement[];
  readonly mostRows: number;
}

export type TableSize = "few" | "some" | "many";

/** What the tables were like when PostgreSQL last looked, and when connections planned what they plan once. */
const BELIEFS: [string, (client: Client, tables: PlannedTables) => Promise<void>][] = [
  ["are new", async () => {}],
  [
    "have a few rows",
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

/** PostgreSQL last looked when there was next to nothing, and a hundred thousand rows came since; then it looks again. */
export function describeMisledPlans(planned: PlannedTables): void {
  const { about, tables, fill, statements, mostRows } = planned;

  describe.each(BELIEFS)(
    `PostgreSQL reads only what it needs of ${about}, when it believes that their tables %s`,
    (_, misled) => {
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

      test.each(statements)("%s", async (__, record, indexes, most = mostRows) => {
        const mode = ({ planOnce: once }: Statement) => (once ? "force_generic_plan" : "force_custom_plan");
        expect(await explainAll(client, await record(), mode, most)).toEqual([...indexes].sort());
      });

      describe("and when it has looked again", () => {
        beforeAll(async () => {
          for (const table of tables) await client.query(`analyze ${table}`);
        });

        test.each(statements)("%s", async (__, record, indexes, most = mostRows) => {
          for (const mode of ["force_generic_plan", "force_custom_plan"] as const)
            expect(await explainAll(client, await record(), () => mode, most), mode).toEqual([...indexes].sort());
        });
      });
    },
  );
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

/** Gives the indexes that were used. */
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

/** A few rows for each that the statement is about. */
function expectSmall(nodes: readonly PlanNode[], { statement }: RecordedStatement, most: number): void {
  for (const node of nodes) {
    const place = `${statement.name}: ${JSON.stringify(node)}`;
    expect(node.type, place).not.toBe("Seq Scan");
    expect(node.rowsRead, place).toBeLessThan(most);
  }
}

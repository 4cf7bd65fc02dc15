import type { Client } from "pg";
import { describe, expect, test } from "vitest";
import type { HookStatements } from "../../src/store/hooks/hook-statements.ts";
import { usePostgres } from "../support/use-postgres.ts";
import { COMPLETED } from "../support/use-store.ts";
import { type RecordedStatement, recordHookStatements } from "./plans/postgres/recorded-statements.ts";

const DEAD_ROWS = 4000;

describe("while a transaction keeps its snapshot, so that PostgreSQL can't remove dead rows,", () => {
  const fixture = usePostgres();

  test("looks at the queue read few of them, once such looks have taken too long", async () => {
    const dump = await fixture.begin();
    await dump.query("set transaction isolation level repeatable read");
    await dump.query("select count(*) from perdure.hook");
    await fixture.insertMany(DEAD_ROWS);
    const claimed = await fixture.claim({ limit: DEAD_ROWS });
    await fixture.hooks.settle(
      claimed.map(({ namespace, id, lock }) => ({ namespace, id, lock, keyed: false, outcome: COMPLETED })),
    );
    fixture.clock.advance(60_000);
    const client = await fixture.begin();

    const [slowQuestion, slowClaim] = await pagesRead(client, await recordLooks(0));
    const [question, claim] = await pagesRead(client, await recordLooks(500));

    expect([slowQuestion, slowClaim].every((pages) => (pages as number) > 50)).toBe(true);
    expect([question, claim].every((pages) => (pages as number) < 20)).toBe(true);
  });

  test("looks that begin late in the queue find what becomes due, and what is committed a little late", async () => {
    const [, claim] = await recordLooks(500);
    const since = Math.max(...((claim as RecordedStatement).values[4] as number[]));
    expect(fixture.clock.now() - since).toBe(500);
    await fixture.insert({ id: "now" });
    const client = await fixture.begin();
    const { statement, values } = claim as RecordedStatement;

    const { rows } = await client.query(statement.text, [...values]);
    expect(rows.map(({ id }) => id)).toEqual(["now"]);
  });

  /** The question for the next wake, and the claim, of a process whose looks have taken so long. */
  async function recordLooks(milliseconds: number): Promise<readonly RecordedStatement[]> {
    const { scopes } = fixture.request();
    const sight = () => [{ now: fixture.clock.now(), remaining: null, took: milliseconds }];
    const use = async (hooks: HookStatements) => {
      for (let look = 0; look < 2; look++) await hooks.nextWake(scopes, { takeOver: true });
      await hooks.claim({ ...fixture.request(), scopes, limit: 100 });
    };
    const recorded = await recordHookStatements(use, { next_hook_wake: sight });
    return recorded.slice(-2).map(({ statement, values }) => {
      return { statement, values: [fixture.clock.now(), ...values.slice(1)] };
    });
  }
});

async function pagesRead(client: Client, looks: readonly RecordedStatement[]): Promise<number[]> {
  const pages: number[] = [];
  for (const { statement, values } of looks) {
    const { rows } = await client.query(`explain (analyze, buffers, format json) ${statement.text}`, [...values]);
    const plan = rows[0]["QUERY PLAN"][0].Plan as Record<string, number>;
    pages.push((plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0));
  }
  return pages;
}

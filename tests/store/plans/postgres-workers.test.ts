import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MOST_SWEPT } from "../../../src/store/workers/worker-records.ts";
import type { WorkerStatements } from "../../../src/store/workers/worker-statements.ts";
import { createDatabase, type TestDatabase } from "../../support/postgres-database.ts";
import { explain, prepare, recordWorkerStatements } from "./postgres/recorded-statements.ts";

/** A worker that was restarted every few seconds for a day. */
const WORKERS = 20_000;

describe("PostgreSQL", () => {
  let database: TestDatabase;
  let client: Client;

  beforeAll(async () => {
    database = await createDatabase();
    client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query(
      `insert into perdure.worker (id, host, version, hook_slots, workflow_slots, started_at, seen_at, work)
       select number, 'machine', '1', 1, 1, 0, number, '{"app":{"hooks":["greet"],"workflows":[]}}'
       from generate_series(1, $1::int) as number`,
      [WORKERS],
    );
    await client.query("vacuum analyze perdure.worker");
  });

  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  test.each<[string, (workers: WorkerStatements) => Promise<unknown>]>([
    ["lists", (workers) => workers.list("app", 1000)],
    ["sweeps up", (workers) => workers.sweep()],
  ])("%s a limited number of workers, by the time at which they were seen", async (_, use) => {
    const [recorded] = await recordWorkerStatements(use);
    if (recorded === undefined) throw new Error("No statement was recorded.");
    await prepare(client, recorded.statement);
    const nodes = (await explain(client, recorded, "force_custom_plan")).filter(({ index }) => index !== undefined);
    await client.query("deallocate all");

    expect(nodes.map(({ index }) => index)).toEqual(["worker_seen"]);
    expect(Math.max(...nodes.map(({ rowsRead }) => rowsRead))).toBeLessThanOrEqual(MOST_SWEPT);
  });
});

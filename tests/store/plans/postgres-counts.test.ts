import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../support/postgres-database.ts";
import { explain, prepare, recordInstanceStatements } from "./postgres/recorded-statements.ts";

const FINISHED = 20_000;
const NAMES = 3;
const FINDS_NAMES = /instance_id$|on workflow/;

describe("PostgreSQL", () => {
  let database: TestDatabase;
  let client: Client;

  beforeAll(async () => {
    database = await createDatabase();
    client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query(
      `insert into perdure.instance (created_at, class, ref, namespace, name, id, outcome, available_at, params)
       select 0, 0, md5(number::text), 'app', 'workflow-' || number % ${NAMES}, number,
         case when number > 50 then 'complete' end, case when number <= 50 then 0 end, to_json(repeat('x', 500))
       from generate_series(1, $1::int) as number`,
      [FINISHED + 50],
    );
    await client.query("vacuum analyze perdure.instance");
  });

  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  test.each([
    [null, null],
    [null, 100],
    [["workflow-1"], 100],
    [["workflow-0", "workflow-1", "workflow-2"], null],
  ])("counts instances of %j up to %j without reading them", async (names, most) => {
    const [count] = await recordInstanceStatements((instances) => instances.counts("app", names, most));
    if (count === undefined) throw new Error("No statement was recorded.");
    await prepare(client, count.statement);
    const nodes = (await explain(client, count, "force_custom_plan")).filter(({ table }) => table !== undefined);
    await client.query("deallocate all");

    const inAll = most === null ? FINISHED : most * NAMES;
    expect(nodes.find(({ index }) => index === "instance_finished")?.rowsRead).toBeLessThanOrEqual(inAll);
    const scans = nodes.map(({ type, index }) => `${type} of ${index}`).filter((scan) => !FINDS_NAMES.test(scan));
    expect(scans.sort()).toEqual([
      "Index Only Scan of instance_finished",
      "Index Only Scan of instance_waiting",
      "Index Scan of instance_due",
    ]);
    expect(nodes.find(({ index }) => index === "instance_waiting")?.rowsRead).toBeLessThanOrEqual(50);
  });
});

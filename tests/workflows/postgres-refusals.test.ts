import { Client } from "pg";
import { afterEach, describe, expect, test } from "vitest";
import { defineHook, defineWorkflow, perdure } from "../../src/index.ts";
import { createDatabase, type TestDatabase } from "../support/postgres-database.ts";
import { waitUntil } from "../support/wait-until.ts";

const silent = { info: () => {}, warn: () => {}, error: () => {} };
const LEASE_MS = 1000;

let database: TestDatabase;

afterEach(() => database.drop());

async function execute(sql: string): Promise<void> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(sql).finally(() => client.end());
}

describe("a PostgreSQL that refuses", () => {
  test("to write to journals for longer than a lease costs nothing, not even a step that may run only once", async () => {
    database = await createDatabase();
    let calls = 0;
    let refused = 0;
    const workflow = defineWorkflow({ name: "charge" }, async (_event, step) => {
      await step.do("before", () => {});
      return step.do("charge", { retries: { limit: 0 } }, async () => {
        calls++;
        await execute(`create function perdure.refuse() returns trigger language plpgsql as
          'begin raise insufficient_privilege using message = ''permission denied for table journal''; end';
          create trigger refuse before insert on perdure.journal for each row execute function perdure.refuse()`);
        return "charged";
      });
    });
    const logger = { ...silent, warn: () => void refused++ };
    const worker = { leaseMs: LEASE_MS };
    const app = await perdure({ database: database.url, workflows: { workflow }, worker, logger });
    const instance = await app.workflows.workflow.create();
    await waitUntil("a commit was refused", () => refused > 0);
    const start = performance.now();
    await waitUntil("a lease was over", () => performance.now() > start + 1.5 * LEASE_MS);
    await execute("drop trigger refuse on perdure.journal");

    await expect(instance.result()).resolves.toBe("charged");
    expect(calls).toBe(1);
    await app.stop();
  });

  test("a character that its encoding hasn't got fails the step that gave it, once, and nothing else", async () => {
    database = await createDatabase({ empty: true, encoding: "LATIN1" });
    let calls = 0;
    const workflow = defineWorkflow({ name: "prices" }, async (_event, step) => {
      const failure = await step
        .do("price", () => {
          calls++;
          return "10 €";
        })
        .catch((error: { code: string }) => error.code);
      return step.do("after", () => failure);
    });
    const greet = defineHook({ retries: { limit: 1, delay: 0 } }, () => {
      throw new Error("10 € are too much");
    });
    const app = await perdure({ database: database.url, workflows: { workflow }, hooks: { greet }, logger: silent });
    const instance = await app.workflows.workflow.create();
    await expect(instance.result()).resolves.toBe("value.refused");
    const { id } = await app.hooks.greet.trigger();
    await waitUntil("it was a dead letter", async () => (await app.durableHooks.get(id))?.status === "failed");

    expect(calls).toBe(1);
    expect(await app.durableHooks.get(id)).toMatchObject({ attempts: 2, error: { code: "value.refused" } });
    await app.stop();
  });
});

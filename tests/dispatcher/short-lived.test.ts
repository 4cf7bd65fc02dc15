import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { defineHook, defineWorkflow, perdure } from "../../src/index.ts";
import { PostgresWakeups } from "../../src/store/postgres/connection/wakeups.ts";
import { createDatabase, type TestDatabase } from "../support/postgres-database.ts";
import { waitUntil } from "../support/wait-until.ts";

/** Processes that end right after a write, before they could announce it by a statement of its own. */
describe("a write on PostgreSQL", () => {
  let database: TestDatabase;
  let ears: Client;
  let heard: string[];

  beforeEach(async () => {
    database = await createDatabase();
    ears = new Client({ connectionString: database.url });
    await ears.connect();
    heard = [];
    ears.on("notification", ({ payload }) => heard.push(payload ?? ""));
    await ears.query("listen perdure_perdure");
  });

  afterEach(async () => {
    vi.restoreAllMocks();
    await ears.end();
    await database.drop();
  });

  /** A process that never gets to send an announcement on its own. */
  async function startMute() {
    const plain = defineWorkflow({ name: "plain" }, async (_event, step) => {
      await step.waitForEvent("go", { type: "go" });
    });
    vi.spyOn(PostgresWakeups.prototype, "announce").mockImplementation(() => {});
    return perdure({
      database: database.url,
      hooks: { greet: defineHook((_: string) => {}) },
      workflows: { plain },
      worker: false,
    });
  }

  test("that triggers a hook announces it by itself", async () => {
    const app = await startMute();
    await app.hooks.greet.trigger("ada");
    await waitUntil("it was heard", () => heard.length === 1);
    await app.stop();
  });

  test("that creates an instance announces it by itself", async () => {
    const app = await startMute();
    await app.workflows.plain.create();
    await waitUntil("it was heard", () => heard.length === 1);
    await app.stop();
  });

  test("of a unit of work announces it by itself", async () => {
    const app = await startMute();
    await app.unitOfWork(async (uow) => uow.triggerHook("greet", "ada"));
    await waitUntil("it was heard", () => heard.length === 1);
    await app.stop();
  });

  test("of an event announces it by itself", async () => {
    const app = await startMute();
    const instance = await app.workflows.plain.create();
    await waitUntil("the instance was heard", () => heard.length === 1);
    await waitUntil("the event was heard", async () => {
      await instance.sendEvent({ type: "go" });
      return heard.length > 1;
    });
    await app.stop();
  });

  test("announces no more often than every few milliseconds", async () => {
    const app = await startMute();
    const now = vi.spyOn(performance, "now").mockReturnValue(performance.now() + 1000);
    for (let number = 0; number < 20; number++) await app.hooks.greet.trigger(`${number}`);
    now.mockRestore();
    await ears.query("select");
    expect(heard.length).toBe(1);
    await app.stop();
  });
});

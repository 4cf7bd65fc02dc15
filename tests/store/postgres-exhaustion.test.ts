import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Application, defineHook, defineWorkflow, type HookDefinition, perdure } from "../../src/index.ts";
import { recordCalls } from "../hooks/support/handlers.ts";
import { useFakeTime } from "../support/fake-time.ts";
import { createDatabase, type TestDatabase } from "../support/postgres-database.ts";
import { waitUntil } from "../support/wait-until.ts";

describe("units of work that are more than the pool has connections", () => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await createDatabase();
  });

  afterEach(async () => {
    vi.useRealTimers();
    await database.drop();
  });

  test("all end, though each creates an instance and queries inside, and the worker continues meanwhile", async () => {
    const greet = recordCalls<string>();
    const plain = defineWorkflow({ name: "plain" }, async () => {});
    const app = await perdure({ database: database.url, hooks: { greet: greet.definition }, workflows: { plain } });
    const units = Array.from({ length: 30 }, (_, number) =>
      app.unitOfWork(async (uow) => {
        uow.workflows.plain.create({ id: `instance-${number}` });
        const [row] = await uow.sql`select ${number}::int as number`;
        uow.triggerHook("greet", `${row?.["number"]}`);
      }),
    );
    await Promise.all(units);
    await waitUntil("all hooks ran", () => greet.calls.length === 30);
    await app.stop();
  });

  test("say what it is when they wait for too long, and write nothing", async () => {
    const app: Application<{ greet: HookDefinition<string, unknown> }> = await perdure({
      database: database.url,
      hooks: { greet: defineHook((_: string) => {}) },
      worker: false,
    });
    useFakeTime();
    const gate = Promise.withResolvers<void>();
    let begun = 0;
    const held = Array.from({ length: 6 }, () =>
      app.unitOfWork(async () => {
        begun++;
        await gate.promise;
      }),
    );
    await waitUntil("as many as may began", () => begun === 6);
    const late = app.unitOfWork(async (uow) => uow.triggerHook("greet", "ada")).catch((error: unknown) => error);
    vi.advanceTimersByTime(30_000);
    expect(await late).toMatchObject({
      code: "transaction.no_connection",
      transient: true,
      message: expect.stringContaining("because 6 others"),
    });
    gate.resolve();
    await Promise.all(held);
    expect(await app.durableHooks.statistics()).toMatchObject({ pending: 0 });
    vi.useRealTimers();
    await app.stop();
  });
});

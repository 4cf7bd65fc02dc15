import { describe, expect, test } from "vitest";
import { defineHook } from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { eventually } from "../support/eventually.ts";
import { createMailApp } from "./support/mail-app.ts";

describe("a crash", () => {
  test("abandons the running handler, and another process runs it when the lease is over", async () => {
    const attempts: number[] = [];
    const started = Promise.withResolvers<void>();
    const app = await createTestApp({
      hooks: {
        work: defineHook(async (_payload: undefined, hook) => {
          attempts.push(hook.attempts);
          started.resolve();
          if (hook.attempts === 1) await new Promise(() => {});
        }),
      },
    });
    await app.hooks.work.trigger();
    const running = app.runUntilIdle();
    await started.promise;
    await app.crash();
    await running;
    await app.runUntilIdle();
    expect(attempts).toEqual([1]);
    await app.advance("29 seconds");
    expect(attempts).toEqual([1]);
    await app.advance("2 seconds");
    expect(attempts).toEqual([1, 2]);
    expect(await app.durableHooks.statistics()).toMatchObject({ pending: 0, processing: 0, failed: 0 });
    await app.stop();
  });

  test("is final for the handler that causes it", async () => {
    const steps: string[] = [];
    const app = await createTestApp({
      hooks: {
        work: defineHook(async (_payload: undefined, { attempts }) => {
          steps.push(`charged ${attempts}`);
          if (attempts === 1) await app.crash();
          steps.push(`done ${attempts}`);
        }),
      },
    });
    await app.hooks.work.trigger();
    await app.runUntilIdle();
    await app.advance("1 minute");
    expect(steps).toEqual(["charged 1", "charged 2", "done 2"]);
    await app.stop();
  });

  test("rolls back what isn't committed, and keeps what is", async () => {
    const { app, recipients } = await createMailApp();
    app.database.exec("create table orders (id text)");
    await app.unitOfWork(async (uow) => {
      await uow.sql`insert into orders (id) values (${"kept"})`;
      uow.triggerHook("send", { to: "kept" });
    });
    const written = Promise.withResolvers<void>();
    void app.unitOfWork(async (uow) => {
      await uow.sql`insert into orders (id) values (${"lost"})`;
      uow.triggerHook("send", { to: "lost" });
      written.resolve();
      await new Promise(() => {});
    });
    await written.promise;
    await app.crash();
    await app.runUntilIdle();
    expect(app.database.prepare("select id from orders").all()).toEqual([{ id: "kept" }]);
    expect(recipients()).toEqual(["kept"]);
    await app.stop();
  });

  test("stops code of the dead process that lives on in memory", async () => {
    const { app, recipients } = await createMailApp();
    const gate = Promise.withResolvers<void>();
    const steps: string[] = [];
    const started = Promise.withResolvers<void>();
    const zombie = await createTestApp({
      hooks: {
        work: defineHook(async () => {
          started.resolve();
          await gate.promise;
          steps.push("goes on");
          await zombie.hooks.other.trigger();
          steps.push("triggered");
        }),
        other: defineHook(() => void steps.push("other")),
      },
    });
    await zombie.hooks.work.trigger();
    void zombie.runUntilIdle();
    await started.promise;
    await zombie.crash();
    gate.resolve();
    await zombie.runUntilIdle();
    expect(steps).toEqual(["goes on"]);
    expect(recipients()).toEqual([]);
    await zombie.stop();
    await app.stop();
  });

  test("loses the outcome of a handler that ended after it", async () => {
    const gate = Promise.withResolvers<void>();
    let runs = 0;
    const app = await createTestApp({
      hooks: {
        work: defineHook(async () => {
          runs++;
          await gate.promise;
        }),
      },
    });
    const { id } = await app.hooks.work.trigger();
    void app.runUntilIdle();
    await eventually(() => expect(runs).toBe(1));
    await app.crash();
    gate.resolve();
    await app.runUntilIdle();
    expect(await app.durableHooks.get(id)).toMatchObject({ status: "processing" });
    await app.advance("1 minute");
    expect(await app.durableHooks.get(id)).toBeNull();
    expect(runs).toBe(2);
    await app.stop();
  });

  test("may come again and again, until the hook has no attempt left", async () => {
    let runs = 0;
    const app = await createTestApp({
      hooks: {
        poison: defineHook({ retries: { limit: 2 } }, async () => {
          runs++;
          await app.crash();
        }),
      },
    });
    await app.hooks.poison.trigger();
    for (let minute = 0; minute < 10; minute++) await app.advance("1 minute");
    expect(runs).toBe(3);
    expect((await app.durableHooks.deadLetters()).hooks).toHaveLength(1);
    await app.stop();
  });
});

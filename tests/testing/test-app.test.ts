import { afterEach, describe, expect, expectTypeOf, test, vi } from "vitest";
import { z } from "zod";
import { defineHook, fromNodeSqlite, NonRetryableError, type TriggeredHook } from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { createMailApp } from "./support/mail-app.ts";

const MINUTE = 60_000;

afterEach(() => void vi.useRealTimers());

describe("running", () => {
  test("nothing runs until it is told to", async () => {
    const { app, sent } = await createMailApp();
    await app.hooks.send.trigger({ to: "ada" });
    await new Promise((resolve) => setImmediate(resolve));
    expect(sent).toHaveLength(0);
    await app.runUntilIdle();
    expect(sent).toHaveLength(1);
    await app.stop();
  });

  test("runs hooks that a hook triggers", async () => {
    const steps: string[] = [];
    const app = await createTestApp({
      hooks: {
        first: defineHook(async (count: number) => {
          steps.push(`first ${count}`);
          await app.unitOfWork(async (uow) => uow.triggerHook("second", count));
        }),
        second: defineHook(async (count: number) => {
          steps.push(`second ${count}`);
          if (count > 1) await app.hooks.first.trigger(count - 1);
        }),
      },
    });
    await app.hooks.first.trigger(2);
    await app.runUntilIdle();
    expect(steps).toEqual(["first 2", "second 2", "first 1", "second 1"]);
    await app.stop();
  });

  test("handlers that wait for something real are waited for", async () => {
    let ended = 0;
    const app = await createTestApp({
      hooks: {
        slow: defineHook(async () => {
          await new Promise((resolve) => setTimeout(resolve, 60));
          ended++;
        }),
      },
    });
    await app.hooks.slow.trigger();
    await app.runUntilIdle();
    expect(ended).toBe(1);
    await app.stop();
  });

  test("retries that aren't due yet stay", async () => {
    const { app, sent } = await createMailApp((_mail, attempt) => {
      if (attempt < 3) throw new Error(`attempt ${attempt}`);
    });
    const { id } = await app.hooks.send.trigger({ to: "ada" });
    await app.runUntilIdle();
    await app.runUntilIdle();
    expect(sent).toHaveLength(1);
    expect(await app.durableHooks.get(id)).toMatchObject({ status: "pending", attempts: 1 });
    await app.advance("1 minute");
    expect(sent).toHaveLength(2);
    await app.advance("10 minutes");
    expect(sent.map(({ at }) => at - (sent[0]?.at ?? 0))).toEqual([0, MINUTE, 2 * MINUTE]);
    expect(app.errors.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(await app.durableHooks.get(id)).toBeNull();
    await app.stop();
  });

  test("a hook that fails for good is a dead letter and can be redriven", async () => {
    let broken = true;
    const { app, sent } = await createMailApp(() => {
      if (broken) throw new NonRetryableError("no such address");
    });
    const { id } = await app.hooks.send.trigger({ to: "nobody" });
    await app.runUntilIdle();
    expect((await app.durableHooks.deadLetters()).hooks.map((hook) => hook.id)).toEqual([id]);
    broken = false;
    await app.durableHooks.redrive(id);
    await app.runUntilIdle();
    expect(sent).toHaveLength(2);
    await app.stop();
  });

  test("a hook in the application's own transaction runs if that commits", async () => {
    const { app, recipients } = await createMailApp();
    app.database.exec("create table orders (id text)");
    app.database.exec("begin");
    app.database.prepare("insert into orders (id) values (?)").run("order-1");
    app.within(fromNodeSqlite(app.database)).triggerHook("send", { to: "ada" });
    app.database.exec("commit");
    app.database.exec("begin");
    app.within(fromNodeSqlite(app.database)).triggerHook("send", { to: "rolled back" });
    app.database.exec("rollback");
    await app.runUntilIdle();
    expect(recipients()).toEqual(["ada"]);
    await app.stop();
  });
});

describe("time", () => {
  test("stands still until it is moved, and what becomes due runs in order, at its own time", async () => {
    const { app, sent } = await createMailApp();
    const start = app.now();
    for (const [to, minutes] of [
      ["late", 50],
      ["early", 5],
      ["later", 70],
    ] as const) {
      await app.hooks.send.trigger({ to }, { processAt: start + minutes * MINUTE });
    }
    await app.advance("1 hour");
    expect(app.now()).toBe(start + 60 * MINUTE);
    expect(sent.map(({ to, at }) => [to, (at - start) / MINUTE])).toEqual([
      ["early", 5],
      ["late", 50],
    ]);
    await app.advance("10 minutes");
    expect(sent).toHaveLength(3);
    await app.stop();
  });

  test("can advance by years at once", async () => {
    const { app, sent } = await createMailApp();
    await app.hooks.send.trigger({ to: "ada" }, { processAt: app.now() + 365 * 24 * 60 * MINUTE });
    await app.advance("2 years");
    expect(sent).toHaveLength(1);
    expect(app.errors).toEqual([]);
    await app.stop();
  });

  test("a handler that hangs is told to stop after its time, and tried again", async () => {
    const aborted: unknown[] = [];
    const app = await createTestApp({
      hooks: {
        hang: defineHook(
          { retries: { limit: 1, delay: "1 minute", backoff: "constant" } },
          (_payload: undefined, hook) => {
            hook.signal.addEventListener("abort", () => aborted.push((hook.signal.reason as { code?: string }).code));
            return hook.attempts === 1 ? new Promise(() => {}) : undefined;
          },
        ),
      },
      stuckProcessingTimeoutMinutes: 10,
    });
    await app.hooks.hang.trigger();
    await app.advance("9 minutes");
    expect(aborted).toEqual([]);
    expect(await app.durableHooks.statistics()).toMatchObject({ processing: 1 });
    await app.advance("3 minutes");
    expect(aborted).toEqual(["hook.stuck"]);
    expect(await app.durableHooks.statistics()).toMatchObject({ processing: 0, pending: 0, failed: 0 });
    await app.stop();
  });

  test("completed hooks that are kept are deleted when their time is over", async () => {
    const app = await createTestApp({ hooks: { note: defineHook(() => {}) }, keepCompleted: "1 hour" });
    const { id } = await app.hooks.note.trigger();
    await app.runUntilIdle();
    expect(await app.durableHooks.get(id)).toMatchObject({ status: "completed" });
    await app.advance("2 hours");
    expect(await app.durableHooks.get(id)).toBeNull();
    await app.stop();
  });

  test("can start at any date", async () => {
    const startAt = new Date("2040-02-29T23:59:59Z");
    await using app = await createTestApp({ startAt });
    expect(app.now()).toBe(startAt.getTime());
    await app.advance("1 second");
    expect(new Date(app.now()).toISOString()).toBe("2040-03-01T00:00:00.000Z");
  });

  test("is no concern of the test runner's fake timers", async () => {
    vi.useFakeTimers();
    const { app, sent } = await createMailApp();
    await app.hooks.send.trigger({ to: "ada" }, { processAt: app.now() + MINUTE });
    await app.advance("1 minute");
    expect(sent).toHaveLength(1);
    await app.stop();
  });

  test("and chance are the same each time", async () => {
    const runOnce = async (seed: number) => {
      const attempts: number[] = [];
      const ids: string[] = [];
      const app = await createTestApp({
        seed,
        hooks: {
          fail: defineHook({ retries: { limit: 5 } }, (_payload: undefined, hook) => {
            ids.push(hook.hookId);
            attempts.push(app.now());
            throw new Error("no");
          }),
        },
      });
      await app.hooks.fail.trigger();
      await app.advance("1 hour");
      await app.stop();
      return { attempts, ids };
    };
    const first = await runOnce(7);
    expect(first.attempts).toHaveLength(6);
    expect(await runOnce(7)).toEqual(first);
    expect((await runOnce(8)).attempts).not.toEqual(first.attempts);
  });
});

describe("types and options", () => {
  test("payloads are inferred as by perdure", async () => {
    await using app = await createTestApp({
      hooks: {
        send: defineHook({ input: z.object({ to: z.string(), count: z.coerce.number() }) }, (payload) => {
          expectTypeOf(payload).toEqualTypeOf<{ to: string; count: number }>();
        }),
        ping: defineHook(() => {}),
      },
    });
    expectTypeOf(app.hooks.send.trigger).returns.toEqualTypeOf<Promise<TriggeredHook>>();
    // @ts-expect-error the payload is missing
    await expect(app.hooks.send.trigger()).rejects.toMatchObject({ code: "payload.invalid" });
    // @ts-expect-error there is no such hook
    expect(app.hooks.unknown).toBeUndefined();
    await app.unitOfWork(async (uow) => {
      // @ts-expect-error there is no such hook
      expect(() => uow.triggerHook("unknown")).toThrow(expect.objectContaining({ code: "hook.unknown" }));
    });
    const result = await app.unitOfWork(async () => 5 as const);
    expectTypeOf(result).toEqualTypeOf<5>();
  });

  test("wrong options are refused", async () => {
    for (const options of [
      { seed: 0.5 },
      { startAt: Number.NaN },
      { concurrency: 0 },
      { leaseMs: 1 },
      { tables: 5 },
      { colour: 1 },
    ]) {
      await expect(createTestApp(options as never)).rejects.toMatchObject({ code: "options.invalid" });
    }
    await expect(createTestApp({ tables: "creates table" })).rejects.toThrow(/syntax/);
  });

  test("a stopped application says so", async () => {
    const app = await createTestApp({ hooks: { ping: defineHook(() => {}) } });
    await app.stop();
    await app.stop();
    await expect(app.hooks.ping.trigger()).rejects.toMatchObject({ code: "store.closed" });
  });
});

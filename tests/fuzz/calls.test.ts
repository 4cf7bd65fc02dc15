import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Application } from "../../src/app/perdure.ts";
import { createDurableHooksDispatcher, type DurableHooksDispatcher } from "../../src/dispatchers/node.ts";
import {
  createDurableHooksProcessor,
  defineFragment,
  defineHook,
  type Fragment,
  instantiate,
  perdure,
  type WithinSync,
} from "../../src/index.ts";
import type { Processor } from "../../src/queue/processor.ts";
import { ENGINES, type TestStore } from "../support/engines.ts";
import { clearAnswer, clearAnswerSync } from "./support/clear-answer.ts";
import { fuzz } from "./support/fuzz.ts";
import {
  data,
  given,
  hostileNumber,
  hostileOptions,
  hostileText,
  hostileValue,
  type Recipe,
} from "./support/hostile.ts";

const silent = { info: () => {}, warn: () => {}, error: () => {} };
const retries = hostileOptions({
  limit: given(fc.nat({ max: 3 })),
  delay: given(fc.nat({ max: 3 })),
  backoff: given(fc.constantFrom("constant", "linear", "exponential")),
});
const triggerOptions = hostileOptions({
  key: hostileText,
  id: hostileText,
  processAt: fc.oneof<fc.Arbitrary<Recipe>[]>(hostileNumber, given(fc.date())),
  debounce: fc.oneof<fc.Arbitrary<Recipe>[]>(
    hostileNumber,
    hostileOptions({ delay: hostileNumber, maxWait: hostileNumber }),
  ),
  retries,
});

describe.each(ENGINES)("with arbitrary arguments on $name", (engine) => {
  const seen = new Map<string, unknown>();
  const hooks = {
    take: defineHook((payload: unknown, hook) => void seen.set(hook.hookId, payload)),
    fail: defineHook({ retries: { limit: 0 } }, (payload: unknown) => {
      throw payload;
    }),
  };
  let database: TestStore;
  let fragment: Fragment<typeof hooks, unknown>;
  let app: Application<typeof hooks>;
  let dispatcher: DurableHooksDispatcher;

  beforeAll(async () => {
    database = await engine.create({ logger: silent });
    const definition = defineFragment("fuzz").provideHooks(() => hooks);
    fragment = instantiate(definition.build()).withOptions({ databaseAdapter: database.adapter }).build();
    app = new Application(fragment, null, false);
    const processor = createDurableHooksProcessor(fragment) as Processor;
    dispatcher = createDurableHooksDispatcher({ processor, logger: silent });
  });
  afterAll(() => database.dispose());

  /** Nothing that was done before keeps an ordinary hook from running. */
  async function checkThatHooksRun(): Promise<void> {
    const { id } = await app.hooks.take.trigger({ ordinary: true });
    await dispatcher.drain();
    expect(seen.get(id)).toEqual({ ordinary: true });
    seen.clear();
  }

  test("a trigger is stored and comes back as it was, or is refused", async () => {
    await fuzz([hostileValue, triggerOptions], async (payload, options) => {
      const answer = await clearAnswer(() => app.hooks.take.trigger(payload, options as never));
      if ("result" in answer) expect(answer.result.id).toBeTypeOf("string");
    });
    await dispatcher.drain();
    seen.clear();
    await fuzz([given(data)], async (payload) => {
      const answer = await clearAnswer(() => app.hooks.take.trigger(payload));
      if ("refused" in answer) return;
      await dispatcher.drain();
      expect(seen.get(answer.result.id)).toEqual(payload);
    });
    await checkThatHooksRun();
  });

  test("an id and a key of any kind name the hook that they were given to, or are refused", async () => {
    const definition = defineFragment("identities").provideHooks(() => hooks);
    const other = instantiate(definition.build()).withOptions({ databaseAdapter: database.adapter }).build();
    const { take } = new Application(other, null, false).hooks;
    const processAt = new Date("9000-01-01");
    const waiting = { name: "take", status: "pending", payload: "later" };
    let accepted = 0;
    await fuzz([hostileText], async (text) => {
      const byId = await clearAnswer(() => take.trigger("later", { id: text, processAt }));
      const byKey = await clearAnswer(() => take.trigger("later", { key: text, processAt }));
      expect("refused" in byId).toBe("refused" in byKey);
      if ("refused" in byId || "refused" in byKey) return;
      accepted++;
      const id = `take/${text}`;
      expect(byId.result.id).toBe(id);
      expect(await other.durableHooks.get(id)).toMatchObject({ ...waiting, id, key: null });
      expect(await other.durableHooks.get(byKey.result.id)).toMatchObject({ ...waiting, key: text });
      expect((await other.durableHooks.cancel(id)).cancelled).toEqual([id]);
      const { cancelled } = await other.durableHooks.cancel({ name: "take", key: text });
      expect(cancelled).toEqual([byKey.result.id]);
    });
    expect(accepted).toBeGreaterThan(10);
    await checkThatHooksRun();
  });

  test("a hook of any name runs, or is refused", async () => {
    const names = ["__proto__", "constructor", "toString", "then", "0", "a.b:c-d_e", "x".repeat(100)];
    await fuzz([fc.oneof(hostileText, given(fc.constantFrom(...names)))], async (name) => {
      const calls: unknown[] = [];
      const definition = defineFragment("names").provideHooks(() => ({
        [name]: defineHook((payload: unknown) => void calls.push(payload)),
      }));
      const built = clearAnswerSync(() =>
        instantiate(definition.build()).withOptions({ databaseAdapter: database.adapter }).build(),
      );
      if ("refused" in built) return expect(names).not.toContain(name);
      await new Application(built.result, null, false).hooks[name]?.trigger("payload");
      const processor = createDurableHooksProcessor(built.result) as Processor;
      await createDurableHooksDispatcher({ processor, logger: silent }).drain();
      expect(calls).toEqual(["payload"]);
    });
  });

  test("a handler's error is stored, and operators can read it", async () => {
    await fuzz([hostileValue], async (payload) => {
      await clearAnswer(() => app.hooks.fail.trigger(payload));
    });
    await dispatcher.drain();
    let cursor: string | undefined;
    do {
      const page = await app.durableHooks.deadLetters({ limit: 20, ...(cursor === undefined ? {} : { cursor }) });
      for (const hook of page.hooks) expect(hook).toMatchObject({ status: "failed", attempts: 1 });
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    await checkThatHooksRun();
  });

  test("a unit of work commits, or is refused and leaves nothing behind", async () => {
    await fuzz([hostileText, hostileValue, hostileValue, triggerOptions], async (name, payload, parameter, options) => {
      if (typeof payload !== "function") await clearAnswer(() => app.unitOfWork(payload as never));
      await clearAnswer(() =>
        app.unitOfWork(async (uow) => {
          clearAnswerSync(() => uow.triggerHook(name as "take", payload));
          clearAnswerSync(() => uow.triggerHook(payload as "take", payload));
          clearAnswerSync(() => uow.triggerHook("take", payload, options as never));
          const { sql, query } = uow as unknown as Record<"sql" | "query", (...rest: unknown[]) => Promise<unknown>>;
          await clearAnswer(() => sql.call(uow, payload, parameter));
          const native = engine.dialect === "sqlite" ? "select ? as value" : "select $1::text as value";
          await clearAnswer(() => query.call(uow, native, parameter)).catch(acceptDriversError);
          await clearAnswer(() => query.call(uow, native, [parameter])).catch(acceptDriversError);
          if (typeof payload !== "string") await clearAnswer(() => query.call(uow, payload, []));
        }),
      );
    });
    await dispatcher.drain();
    await checkThatHooksRun();
  });

  test("a unit of work isn't said to be done if the database has given it up", async () => {
    const swallowing = app.unitOfWork(async (uow) => {
      await uow.query("select nothing from nowhere").catch(() => {});
      return "done";
    });
    if (engine.dialect === "sqlite")
      expect(await swallowing).toBe("done"); // only the statement failed
    else await expect(swallowing).rejects.toMatchObject({ code: "transaction.rolled_back" });
    await checkThatHooksRun();
  });

  test("operators get an answer, or are refused", async () => {
    const listOptions = hostileOptions({
      status: given(fc.constantFrom("pending", "failed", "completed", "processing")),
      name: hostileText,
      cursor: hostileText,
      limit: hostileNumber,
      order: given(fc.constantFrom("newest", "oldest")),
    });
    await fuzz([listOptions, hostileValue, hostileText], async (options, value, text) => {
      const { durableHooks } = app;
      await clearAnswer(() => durableHooks.list(options as never));
      await clearAnswer(() => durableHooks.deadLetters(options as never));
      for (const id of [value, text, [text, value], { name: text, key: value }, { name: "take", key: text }]) {
        await clearAnswer(() => durableHooks.get(id as never));
        await clearAnswer(() => durableHooks.redrive(id as never));
        await clearAnswer(() => durableHooks.discard(id as never));
        await clearAnswer(() => durableHooks.cancel(id as never));
      }
    });
    await dispatcher.drain();
    await checkThatHooksRun();
  });

  test("a transaction of another library is used, or is refused", async () => {
    await fuzz([hostileValue, hostileText], async (value, name) => {
      clearAnswerSync(() => app.within(value as never));
      const open = { isOpen: () => true, execute: () => [] };
      for (const mode of ["sync", "async", name]) {
        const transaction = { ...open, mode, dialect: engine.dialect } as never;
        const within = () => app.within(transaction) as WithinSync<typeof hooks>;
        await clearAnswer(() => within().triggerHook(name as "take", value));
        await clearAnswer(() => within().triggerHook("take", value, value as never));
      }
    });
    await checkThatHooksRun();
  });

  test("an application is started, or is refused", async () => {
    const options = hostileOptions({
      database: given(fc.constant(database.adapter)),
      hooks: given(fc.constant({ ping: defineHook(() => {}) })),
      namespace: hostileText,
      worker: hostileOptions({ pollIntervalMs: hostileNumber, concurrency: hostileNumber, leaseMs: hostileNumber }),
      logger: given(fc.constant(silent)),
      stuckProcessingTimeoutMinutes: hostileNumber,
      onStuckProcessingHooks: hostileValue,
      keepCompleted: fc.oneof<fc.Arbitrary<Recipe>[]>(hostileNumber, hostileText),
      maxPayloadBytes: hostileNumber,
      captureTraceContext: hostileValue,
    }).filter(({ make }) => !opensFile(make()));
    await fuzz([options, hostileValue], async (given, stopOptions) => {
      const answer = await clearAnswer(() => perdure(given as never));
      if ("refused" in answer) return;
      await clearAnswer(() => answer.result.stop(stopOptions as never));
      await answer.result.stop();
    });
    await checkThatHooksRun();
  });
});

/** What the database says about the application's own SQL is for the application, as it is. */
function acceptDriversError(error: unknown): void {
  const cause = (error as Error).cause;
  const ofDriver = cause instanceof Error && (!(cause instanceof TypeError) || "code" in cause);
  if (!ofDriver) throw error;
}

/** A text is the path of a database, which would be created. */
function opensFile(options: unknown): boolean {
  try {
    return typeof (options as { database?: unknown }).database === "string";
  } catch {
    return false;
  }
}

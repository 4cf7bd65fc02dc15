import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createDurableHooksDispatcher } from "../../src/dispatchers/node.ts";
import { parseDuration } from "../../src/duration.ts";
import {
  createDurableHooksProcessor,
  defineFragment,
  defineHook,
  type FragmentDefinition,
  fromBetterSqlite3,
  fromNodeSqlite,
  fromPg,
  instantiate,
  migrate,
} from "../../src/index.ts";
import { postgres, postgresMigrations } from "../../src/store/postgres/index.ts";
import { sqlite } from "../../src/store/sqlite/index.ts";
import { createTestApp, exploreCrashes } from "../../src/testing/index.ts";
import { clearAnswer, clearAnswerSync } from "./support/clear-answer.ts";
import { fuzz } from "./support/fuzz.ts";
import { given, hostileNumber, hostileOptions, hostileText, hostileValue, type Recipe } from "./support/hostile.ts";

const duration = fc.oneof<fc.Arbitrary<Recipe>[]>(
  hostileNumber,
  hostileText,
  given(fc.constantFrom("1 second", "1.5 days", 0, 100)),
);
const retries = hostileOptions({
  limit: given(fc.nat({ max: 30 })),
  delay: duration,
  backoff: given(fc.constantFrom("constant", "linear", "exponential")),
  maxDelay: duration,
});

describe("a definition with arbitrary values", () => {
  test("a duration is whole milliseconds, or is refused", () =>
    fuzz([fc.oneof(duration, hostileValue), given(fc.constantFrom(undefined, "label"))], (value, label) => {
      const answer = clearAnswerSync(() => parseDuration(value as number, label));
      if ("result" in answer) expect(Number.isSafeInteger(answer.result) && answer.result >= 0).toBe(true);
    }));

  test("a hook is defined, or is refused", () =>
    fuzz([hostileOptions({ retries, input: hostileValue }), hostileValue], (options, handler) => {
      const answer = clearAnswerSync(() => defineHook(options as object, handler as () => void));
      if ("result" in answer) expect(answer.result.handler).toBeTypeOf("function");
      clearAnswerSync(() => defineHook(handler as () => void));
    }));

  test("a fragment is built, or is refused", () =>
    fuzz([hostileText, hostileValue, hostileValue, hostileValue], async (namespace, tables, hooks, options) => {
      clearAnswerSync(() => defineFragment(tables as string));
      clearAnswerSync(() => defineFragment(namespace));
      clearAnswerSync(() => defineFragment("fuzz").withDatabase(tables as never));
      const provided = defineFragment("fuzz").provideHooks(() => hooks as never);
      clearAnswerSync(() =>
        instantiate(provided.build())
          .withOptions(options as never)
          .build(),
      );
      const adapter = sqlite(":memory:");
      const durableHooks = options as never;
      clearAnswerSync(() =>
        instantiate(provided.build()).withOptions({ databaseAdapter: adapter, durableHooks }).build(),
      );
      await adapter.store.close();
      clearAnswerSync(() => instantiate(options as FragmentDefinition<undefined, never, never>).build());
      clearAnswerSync(() => createDurableHooksProcessor(options as never));
      await clearAnswer(() => migrate(options as never));
    }));

  test("a dispatcher is created, or is refused", () => {
    const fragment = instantiate(
      defineFragment("fuzz")
        .provideHooks(() => ({ a: defineHook(() => {}) }))
        .build(),
    );
    const adapter = sqlite(":memory:");
    const processor = createDurableHooksProcessor(fragment.withOptions({ databaseAdapter: adapter }).build());
    const options = hostileOptions({
      processor: given(fc.constant(processor)),
      pollIntervalMs: hostileNumber,
      concurrency: hostileNumber,
      leaseMs: hostileNumber,
      onError: hostileValue,
      logger: hostileValue,
    });
    return fuzz([options, hostileValue], async (given, deadline) => {
      clearAnswerSync(() => createDurableHooksDispatcher(given as never));
      const dispatcher = createDurableHooksDispatcher({ processor: processor as never });
      await clearAnswer(() => dispatcher.stopPolling(deadline as never));
      await clearAnswer(() => dispatcher.stopPolling({ deadlineMs: deadline } as never));
    });
  });

  test("a database is opened, or is refused", () => {
    const options = hostileOptions({
      schema: hostileText,
      preparedStatements: given(fc.boolean()),
      connections: hostileNumber,
      clock: hostileValue,
      randomness: hostileValue,
      logger: hostileValue,
    });
    // A text is a path, and would be created.
    const handle = hostileValue.filter(({ make }) => typeof make() !== "string");
    const path = given(fc.constantFrom("", "\0", "/", "/nowhere/at/all.db", ":memory:", "a\0.db"));
    return fuzz([options, handle, path, hostileText], async (given, database, file, url) => {
      for (const target of [database, file]) {
        const answer = clearAnswerSync(() => sqlite(target as never, given as never));
        if ("result" in answer) await clearAnswer(() => answer.result.store.close());
      }
      for (const target of [database, url, `postgres://${url}`]) {
        const answer = clearAnswerSync(() => postgres(target as never, given as never));
        if ("result" in answer) await clearAnswer(() => answer.result.store.close());
      }
      clearAnswerSync(() => postgresMigrations(given as never));
    });
  });

  test("a transaction of another library is accepted, or is refused", () =>
    fuzz([hostileValue], (value) => {
      clearAnswerSync(() => fromPg(value as never));
      clearAnswerSync(() => fromNodeSqlite(value as never));
      clearAnswerSync(() => fromBetterSqlite3(value as never));
    }));

  test("a test application is created, or is refused", () => {
    const options = hostileOptions({
      hooks: given(fc.constant({})),
      namespace: hostileText,
      tables: hostileText,
      seed: hostileNumber,
      startAt: fc.oneof<fc.Arbitrary<Recipe>[]>(hostileNumber, given(fc.date())),
      concurrency: hostileNumber,
      leaseMs: hostileNumber,
      logger: hostileValue,
      stuckProcessingTimeoutMinutes: hostileNumber,
      keepCompleted: duration,
      maxPayloadBytes: hostileNumber,
    });
    return fuzz([options, hostileValue], async (given, value) => {
      const answer = await clearAnswer(() => createTestApp(given as never));
      if ("result" in answer) await answer.result.stop();
      await using app = await createTestApp();
      await clearAnswer(() => app.advance(typeof value === "number" ? Math.abs(value) % 1e12 : (value as never)));
      await clearAnswer(() => exploreCrashes(value as never, given as never));
    });
  });
});

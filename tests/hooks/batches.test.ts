import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { defineHook, type HookItem, NonRetryableError } from "../../src/index.ts";
import { ENCRYPTED_SQLITE, ENGINES } from "../support/engines.ts";
import { eventually, useHooks } from "./support/use-hooks.ts";

describe.each([...ENGINES, ENCRYPTED_SQLITE])("batches of hooks on $name", (engine) => {
  const fixture = useHooks(engine);

  /** A hook whose handler keeps the batches that it was given. */
  function gathering(handle: (items: readonly HookItem<string>[]) => unknown = () => {}, size = 3) {
    const batches: string[][] = [];
    const definition = defineHook(
      { batch: { size, delay: "10s" }, retries: { limit: 1, delay: "1s", backoff: "constant" } },
      async (items: readonly HookItem<string>[]) => {
        batches.push(items.map(({ payload, hook }) => `${payload} ${hook.attempts}`));
        await handle(items);
      },
    );
    return { batches, definition };
  }

  test("are handled by one call when they are full, and each item has its own id", async () => {
    const ids = new Set<string>();
    const { batches, definition } = gathering((items) => {
      for (const { hook } of items) ids.add(hook.idempotencyKey);
    });
    const process = fixture.process({ index: definition });
    for (const page of ["a", "b", "c", "d", "e", "f"]) await process.hooks.index.trigger(page);
    await process.drain();
    expect(batches).toEqual([
      ["a 1", "b 1", "c 1"],
      ["d 1", "e 1", "f 1"],
    ]);
    expect(ids.size).toBe(6);
    expect((await process.durableHooks.list()).hooks).toEqual([]);
  });

  test("begin when their first item has waited for the delay", async () => {
    const { batches, definition } = gathering();
    const process = fixture.process({ index: definition });
    await process.hooks.index.trigger("a");
    await process.hooks.index.trigger("b");
    const drained = process.drain();
    await eventually(async () =>
      expect((await process.durableHooks.list({ status: "processing" })).hooks).toHaveLength(2),
    );
    expect(batches).toEqual([]);
    await eventually(async () => {
      await fixture.clock.advanceAndSettle(10_000);
      expect(batches).toHaveLength(1);
    });
    await drained;
    expect(batches).toEqual([["a 1", "b 1"]]);
  });

  test("begin early when they have half of the slots, so that other hooks don't wait for their delay", async () => {
    const { batches, definition } = gathering(undefined, 1000);
    const mailed: string[] = [];
    const mail = defineHook(async (to: string) => void mailed.push(to));
    const process = fixture.process({ index: definition, mail }, { concurrency: 4 });
    for (const page of ["a", "b", "c", "d", "e"]) await process.hooks.index.trigger(page);
    await process.hooks.mail.trigger("me");
    process.start();
    await eventually(() => expect(mailed).toEqual(["me"]));
    expect(batches).toEqual([
      ["a 1", "b 1"],
      ["c 1", "d 1"],
    ]);
    await eventually(async () => {
      await fixture.clock.advanceAndSettle(10_000);
      expect(batches).toHaveLength(3);
    });
  });

  test("of several hooks share half of the slots, and the largest begins early", async () => {
    const [one, other] = [gathering(undefined, 1000), gathering(undefined, 1000)];
    const process = fixture.process({ one: one.definition, other: other.definition }, { concurrency: 6 });
    await process.hooks.one.trigger("a");
    await process.hooks.other.trigger("b");
    await process.hooks.one.trigger("c");
    process.start();
    await eventually(() => expect(one.batches).toEqual([["a 1", "c 1"]]));
    expect(other.batches).toEqual([]);
  });

  test("retry only the item that failed, which ends as a dead letter by itself", async () => {
    const { batches, definition } = gathering((items) => {
      for (const item of items) if (item.payload === "bad") item.fail(new Error("no such page"));
    });
    const process = fixture.process({ index: definition });
    for (const page of ["a", "bad", "c"]) await process.hooks.index.trigger(page);
    await process.drain();
    expect(await process.durableHooks.list()).toMatchObject({ hooks: [{ payload: "bad", status: "pending" }] });
    await fixture.clock.advanceAndSettle(1000);
    const drained = process.drain();
    await eventually(async () => {
      await fixture.clock.advanceAndSettle(10_000);
      expect(batches).toHaveLength(2);
    });
    await drained;
    expect(batches).toEqual([["a 1", "bad 1", "c 1"], ["bad 2"]]);
    const { hooks } = await process.durableHooks.deadLetters();
    expect(hooks).toMatchObject([{ payload: "bad", attempts: 2, error: { message: "no such page" } }]);
  });

  test("fail with all items that aren't done if the handler throws", async () => {
    const { definition } = gathering(([first]) => {
      first?.complete();
      throw new NonRetryableError("the index is gone");
    });
    const process = fixture.process({ index: definition });
    for (const page of ["a", "b", "c"]) await process.hooks.index.trigger(page);
    await process.drain();
    const { hooks } = await process.durableHooks.deadLetters({ order: "oldest" });
    expect(hooks.map(({ payload }) => payload)).toEqual(["b", "c"]);
    expect((await process.durableHooks.list()).hooks).toHaveLength(2);
  });

  test("have one item of each key, with its newest payload", async () => {
    const { batches, definition } = gathering(undefined, 2);
    const process = fixture.process({ index: definition });
    await process.hooks.index.trigger("old", { key: "page" });
    await process.hooks.index.trigger("new", { key: "page" });
    await process.hooks.index.trigger("other", { key: "other" });
    await process.drain();
    expect(batches.flat().sort()).toEqual(["new 1", "other 1"]);
  });

  test("begin early when their process stops, so that no item waits for another one", async () => {
    const { batches, definition } = gathering();
    const process = fixture.process({ index: definition });
    process.start();
    await process.hooks.index.trigger("a");
    await eventually(async () =>
      expect(await process.durableHooks.list({ status: "processing" })).toMatchObject({ hooks: [{ payload: "a" }] }),
    );
    await process.dispatcher.stopPolling({ deadlineMs: 60_000 });
    expect(batches).toEqual([["a 1"]]);
  });
});

describe("a hook with a batch", () => {
  test("has the types of its items, from an annotation or from its schema", () => {
    const Page = z.object({ id: z.string() });
    const index = defineHook({ input: Page, batch: { size: 10 } }, async (items) => {
      expectTypeOf(items).toEqualTypeOf<readonly HookItem<{ id: string }>[]>();
    });
    expect(index.kind).toBe("hook");
  });

  test.each([{ size: 0 }, { size: 1.5 }, { size: 1001 }, {}, { size: 5, delay: "1 hour" }, { size: 5, wait: 1 }, 5])(
    "refuses %j",
    (batch) => {
      expect(() => defineHook({ batch: batch as never }, () => {})).toThrow(/batch/);
    },
  );
});

import { describe, expect, it } from "vitest";
import type { HookInsert } from "../../src/store/hook-records.ts";
import { ENGINES } from "../support/engines.ts";
import { COMPLETED, useStore } from "../support/use-store.ts";

describe.each(ENGINES)("what many callers write at once on $name", (engine) => {
  const test = useStore(engine);
  const outcomes = async (triggers: readonly HookInsert[][]) => {
    const settled = await Promise.allSettled(triggers.map((batch) => test.store.hooks.insert(batch)));
    return settled.map((one) =>
      one.status === "fulfilled" ? one.value.map(({ result }) => result).join() : (one.reason as { code: string }).code,
    );
  };

  it.each([
    ["without keys", () => null],
    ["with keys", (index: number) => `key-${index}`],
  ])("is stored but for what is wrong, which fails alone: triggers %s", async (_, keyOf) => {
    const triggers = Array.from({ length: 20 }, (__, index) => [
      test.trigger({ key: keyOf(index), payload: index === 7 ? "{broken" : "{}" }),
    ]);

    expect(await outcomes(triggers)).toEqual(
      triggers.map((_one, index) => (index === 7 ? "store.rejected" : "inserted")),
    );
    expect(await test.ids()).toHaveLength(19);
  });

  it("is stored or not batch by batch", async () => {
    const batches = [
      [test.trigger({ id: "a" }), test.trigger({ id: "b" })],
      [test.trigger({ id: "c" }), test.trigger({ id: "d", payload: "{broken" })],
      [test.trigger({ id: "e" })],
    ];

    expect(await outcomes(batches)).toEqual(["inserted,inserted", "store.rejected", "inserted"]);
    expect(await test.ids()).toEqual(["a", "b", "e"]);
  });

  it("merges triggers of one key, and tells each caller where its trigger went", async () => {
    const later = test.clock.now() + 5000;
    const batches = [
      [test.trigger({ id: "a", key: "k", payload: "1", processAt: later })],
      [test.trigger({ id: "b", key: "l" }), test.trigger({ id: "c", key: "k", payload: "2", processAt: later + 1 })],
      [test.trigger({ id: "d", key: "k", payload: "3", processAt: later + 2 })],
    ];

    const results = await Promise.all(batches.map((batch) => test.store.hooks.insert(batch)));

    expect(results.map((batch) => batch.map(({ id, result }) => `${result} ${id}`))).toEqual([
      ["collapsed d"],
      ["inserted b", "collapsed d"],
      ["inserted d"],
    ]);
    expect(await test.get("d")).toMatchObject({ triggers: 3, payload: "3", availableAt: later });
    expect(await test.ids()).toEqual(["b", "d"]);
  });

  it("keeps the order of triggers of one key", async () => {
    const writes: Promise<unknown>[] = [];
    for (let index = 1; index <= 30; index++) {
      writes.push(test.store.hooks.insert([test.trigger({ key: "k", payload: String(index) })]));
      if (index % 5 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(writes);

    expect(await test.claim()).toMatchObject([{ payload: "30", triggers: 30 }]);
  });

  it("settles each for itself", async () => {
    await test.insertMany(30);
    const claimed = await test.claim({ limit: 30 });

    const results = await Promise.all(
      claimed.map((hook, index) => {
        const lock = index === 3 ? "somebody else" : hook.lock;
        return test.store.hooks.settle({ ...hook, lock, keyed: false, outcome: COMPLETED });
      }),
    );

    expect(results).toEqual(claimed.map((_, index) => (index === 3 ? "lost" : "deleted")));
  });

  it("is all written before the store is closed", async () => {
    const { store } = test.database?.reopen() ?? test;
    const writes = Array.from({ length: 1200 }, () => store.hooks.insert([test.trigger()]));
    await store.close();
    await Promise.all(writes);

    expect((await test.hooks.statistics(test.namespace)).pending).toBe(1200);
  });
});

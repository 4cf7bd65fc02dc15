import { describe, expect, test } from "vitest";
import type { HookInsert } from "../../src/store/hooks/hook-records.ts";
import { DRIVERS } from "../support/engines.ts";
import { COMPLETED, useStore } from "../support/use-store.ts";

describe.each(DRIVERS)("writes of many callers at once on $name", (engine) => {
  const fixture = useStore(engine);
  const outcomes = async (triggers: readonly HookInsert[][]) => {
    const settled = await Promise.allSettled(triggers.map((batch) => fixture.store.hooks.insert(batch)));
    return settled.map((one) =>
      one.status === "fulfilled" ? one.value.map(({ result }) => result).join() : (one.reason as { code: string }).code,
    );
  };

  test.each([
    ["without keys", () => null],
    ["with keys", (index: number) => `key-${index}`],
  ])("is stored but for what is wrong, which fails alone: triggers %s", async (_, keyOf) => {
    const triggers = Array.from({ length: 20 }, (__, index) => [
      fixture.trigger({ key: keyOf(index), payload: index === 7 ? "{broken" : "{}" }),
    ]);

    expect(await outcomes(triggers)).toEqual(
      triggers.map((_one, index) => (index === 7 ? "store.rejected" : "inserted")),
    );
    expect(await fixture.ids()).toHaveLength(19);
  });

  test("is stored or not batch by batch", async () => {
    const batches = [
      [fixture.trigger({ id: "a" }), fixture.trigger({ id: "b" })],
      [fixture.trigger({ id: "c" }), fixture.trigger({ id: "d", payload: "{broken" })],
      [fixture.trigger({ id: "e" })],
    ];

    expect(await outcomes(batches)).toEqual(["inserted,inserted", "store.rejected", "inserted"]);
    expect(await fixture.ids()).toEqual(["a", "b", "e"]);
  });

  test("merges triggers of one key, and tells each caller where its trigger went", async () => {
    const later = fixture.clock.now() + 5000;
    const batches = [
      [fixture.trigger({ id: "a", key: "k", payload: "1", processAt: later })],
      [
        fixture.trigger({ id: "b", key: "l" }),
        fixture.trigger({ id: "c", key: "k", payload: "2", processAt: later + 1 }),
      ],
      [fixture.trigger({ id: "d", key: "k", payload: "3", processAt: later + 2 })],
    ];

    const results = await Promise.all(batches.map((batch) => fixture.store.hooks.insert(batch)));

    expect(results.map((batch) => batch.map(({ id, result }) => `${result} ${id}`))).toEqual([
      ["collapsed d"],
      ["inserted b", "collapsed d"],
      ["inserted d"],
    ]);
    expect(await fixture.get("d")).toMatchObject({ triggers: 3, payload: "3", availableAt: later });
    expect(await fixture.ids()).toEqual(["b", "d"]);
  });

  test("keeps the order of triggers of one key", async () => {
    const writes: Promise<unknown>[] = [];
    for (let index = 1; index <= 30; index++) {
      writes.push(fixture.store.hooks.insert([fixture.trigger({ key: "k", payload: String(index) })]));
      if (index % 5 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(writes);

    expect(await fixture.claim()).toMatchObject([{ payload: "30", triggers: 30 }]);
  });

  test("settles each for itself", async () => {
    await fixture.insertMany(30);
    const claimed = await fixture.claim({ limit: 30 });

    const results = await Promise.all(
      claimed.map((hook, index) => {
        const lock = index === 3 ? "somebody else" : hook.lock;
        return fixture.store.hooks.settle({ ...hook, lock, keyed: false, outcome: COMPLETED });
      }),
    );

    expect(results).toEqual(claimed.map((_, index) => (index === 3 ? "lost" : "deleted")));
  });

  test("is all written before the store is closed", async () => {
    const { store } = fixture.database?.reopen() ?? fixture;
    const writes = Array.from({ length: 1200 }, () => store.hooks.insert([fixture.trigger()]));
    await store.close();
    await Promise.all(writes);

    expect((await fixture.hooks.statistics(fixture.namespace)).pending).toBe(1200);
  });
});

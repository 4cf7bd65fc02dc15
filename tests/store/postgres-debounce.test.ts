import { describe, expect, it } from "vitest";
import type { HookInsert } from "../../src/store/hook-records.ts";
import { usePostgres } from "../support/use-postgres.ts";
import { COMPLETED } from "../support/use-store.ts";

const DELAY_MS = 1000;

describe("debounced triggers that meet others on PostgreSQL", () => {
  const test = usePostgres();

  const debounced = (overrides: Partial<HookInsert> = {}) =>
    test.trigger({ key: "k", debounce: { delayMs: DELAY_MS, maxWaitMs: 5000 }, ...overrides });

  /** A transaction that has written this trigger and stays open until it is ended. */
  async function hold(trigger: HookInsert): Promise<{ end: () => Promise<void> }> {
    const written = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const transaction = test.store.engine.transaction(async (tx) => {
      await tx.insertHooks([trigger]);
      written.resolve();
      await gate.promise;
    });
    await Promise.race([written.promise, transaction]);
    return {
      end: async () => {
        gate.resolve();
        await transaction;
      },
    };
  }

  async function dueIn(): Promise<number> {
    return Number((await test.get("a"))?.availableAt) - test.clock.now();
  }

  it("aren't claimed at the old time while what puts them off is not committed yet, nor after it is", async () => {
    await test.hooks.insert([debounced({ id: "a" })]);
    test.clock.advance(900);
    const held = await hold(debounced());
    test.clock.advance(100);
    expect(await test.claim()).toEqual([]);
    await held.end();
    expect(await test.claim()).toEqual([]);
    expect(await test.nextWake()).toBe(900);
    test.clock.advance(900);

    expect(await test.claim()).toMatchObject([{ id: "a", triggers: 2 }]);
  });

  it("are put off by the newer of two, in whatever order they are committed", async () => {
    await test.hooks.insert([debounced({ id: "a" })]);
    test.clock.advance(100);
    const holder = await test.lock("a");
    const older = test.hooks.insert([debounced({ payload: "1", triggeredAt: test.clock.now() })]);
    await test.waiting(1);
    test.clock.advance(300);
    const newer = test.hooks.insert([debounced({ payload: "2" })]);
    await test.waiting(2);
    await holder.query("commit");
    await Promise.all([older, newer]);

    expect(await dueIn()).toBe(DELAY_MS);
    expect(await test.get("a")).toMatchObject({ payload: "2", triggers: 3 });
  });

  it("keep within the bound of one that was committed while they waited for it", async () => {
    const held = await hold(debounced({ id: "a", debounce: { delayMs: 100, maxWaitMs: 300 } }));
    test.clock.advance(200);
    const another = test.reopen({ clock: test.clock }).store.hooks.statements.insert([debounced()]);
    await test.waiting(1);
    await held.end();

    expect(await another).toMatchObject([{ result: "collapsed", id: "a" }]);
    expect(await dueIn()).toBe(100);
  });

  it("are stored beside a hook that was claimed while they waited", async () => {
    await test.hooks.insert([debounced({ id: "a" })]);
    test.clock.advance(DELAY_MS);
    const claimer = await test.begin();
    const lease = test.clock.now() + 30_000;
    await claimer.query(
      "update perdure.hook set lock = 'theirs', class = 2, attempts = 1, available_at = $1 where namespace = $2 and id = 'a'",
      [lease, test.namespace],
    );
    const triggering = test.hooks.insert([debounced({ payload: "2" })]);
    await test.waiting(1);
    await claimer.query("commit");
    expect(await triggering).toMatchObject([{ result: "collapsed", id: "a" }]);
    const { namespace } = test;
    await test.hooks.settle([{ namespace, id: "a", lock: "theirs", keyed: true, outcome: COMPLETED }]);

    expect(await test.get("a")).toMatchObject({ status: "pending", payload: "2", attempts: 0 });
    expect(await dueIn()).toBe(DELAY_MS);
  });
});

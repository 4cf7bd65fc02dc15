import { describe, expect, test } from "vitest";
import type { HookInsert } from "../../src/store/hooks/hook-records.ts";
import { usePostgres } from "../support/use-postgres.ts";
import { COMPLETED } from "../support/use-store.ts";

const DELAY_MS = 1000;

describe("debounced triggers that meet others on PostgreSQL", () => {
  const fixture = usePostgres();

  const debounced = (overrides: Partial<HookInsert> = {}) =>
    fixture.trigger({ key: "k", debounce: { delayMs: DELAY_MS, maxWaitMs: 5000 }, ...overrides });

  /** A transaction that has written this trigger and stays open until it is ended. */
  async function hold(trigger: HookInsert): Promise<{ end: () => Promise<void> }> {
    const written = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const transaction = fixture.store.engine.transaction(async (tx) => {
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
    return Number((await fixture.get("a"))?.availableAt) - fixture.clock.now();
  }

  test("aren't claimed at the old time while what puts them off is not committed yet, nor after it is", async () => {
    await fixture.hooks.insert([debounced({ id: "a" })]);
    fixture.clock.advance(900);
    const held = await hold(debounced());
    fixture.clock.advance(100);
    expect(await fixture.claim()).toEqual([]);
    await held.end();
    expect(await fixture.claim()).toEqual([]);
    expect(await fixture.nextWake()).toBe(900);
    fixture.clock.advance(900);

    expect(await fixture.claim()).toMatchObject([{ id: "a", triggers: 2 }]);
  });

  test("are put off by the newer of two, in whatever order they are committed", async () => {
    await fixture.hooks.insert([debounced({ id: "a" })]);
    fixture.clock.advance(100);
    const holder = await fixture.lock("a");
    const older = fixture.hooks.insert([debounced({ payload: "1", triggeredAt: fixture.clock.now() })]);
    await fixture.waiting(1);
    fixture.clock.advance(300);
    const newer = fixture.hooks.insert([debounced({ payload: "2" })]);
    await fixture.waiting(2);
    await holder.query("commit");
    await Promise.all([older, newer]);

    expect(await dueIn()).toBe(DELAY_MS);
    expect(await fixture.get("a")).toMatchObject({ payload: "2", triggers: 3 });
  });

  test("keep within the bound of one that was committed while they waited for it", async () => {
    const held = await hold(debounced({ id: "a", debounce: { delayMs: 100, maxWaitMs: 300 } }));
    fixture.clock.advance(200);
    const another = fixture.reopen({ clock: fixture.clock }).store.hooks.statements.insert([debounced()]);
    await fixture.waiting(1);
    await held.end();

    expect(await another).toMatchObject([{ result: "collapsed", id: "a" }]);
    expect(await dueIn()).toBe(100);
  });

  test("are stored beside a hook that was claimed while they waited", async () => {
    await fixture.hooks.insert([debounced({ id: "a" })]);
    fixture.clock.advance(DELAY_MS);
    const claimer = await fixture.begin();
    const lease = fixture.clock.now() + 30_000;
    await claimer.query(
      "update perdure.hook set lock = 'theirs', class = 2, attempts = 1, available_at = $1 where namespace = $2 and id = 'a'",
      [lease, fixture.namespace],
    );
    const triggering = fixture.hooks.insert([debounced({ payload: "2" })]);
    await fixture.waiting(1);
    await claimer.query("commit");
    expect(await triggering).toMatchObject([{ result: "collapsed", id: "a" }]);
    const { namespace } = fixture;
    await fixture.hooks.settle([{ namespace, id: "a", lock: "theirs", keyed: true, outcome: COMPLETED }]);

    expect(await fixture.get("a")).toMatchObject({ status: "pending", payload: "2", attempts: 0 });
    expect(await dueIn()).toBe(DELAY_MS);
  });
});

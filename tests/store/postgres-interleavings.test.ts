import { describe, expect, test } from "vitest";
import type { ClaimedHook, HookInsert, HookOutcome } from "../../src/store/hooks/hook-records.ts";
import { usePostgres } from "../support/use-postgres.ts";
import { COMPLETED, FAILED, KEPT, LEASE_MS, RELEASED, retryAfter } from "../support/use-store.ts";

const OUTCOMES: [string, HookOutcome][] = [
  ["completed", COMPLETED],
  ["completed and kept", KEPT],
  ["retry", retryAfter(5000)],
  ["failed", FAILED],
  ["released", RELEASED],
];

describe("forced interleavings on PostgreSQL", () => {
  const fixture = usePostgres();

  /** Runs triggers in a transaction that stays open until `end` is called. */
  async function holdTriggers(...triggers: HookInsert[]): Promise<{ end: () => Promise<void> }> {
    const inserted = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const transaction = fixture.store.engine.transaction(async (tx) => {
      await tx.insertHooks(triggers);
      inserted.resolve();
      await gate.promise;
    });
    await Promise.race([inserted.promise, transaction]);
    return {
      end: async () => {
        gate.resolve();
        await transaction;
      },
    };
  }

  /** What there is to run for the key is the second trigger, once. */
  async function expectOneMoreRun(): Promise<void> {
    const again = await fixture.claimOne();
    expect(again).toMatchObject({ key: "k", payload: "2", attempts: 1, recoveries: 0 });
    expect(await fixture.settle(again, COMPLETED)).toBe("deleted");
    expect(await fixture.nextWake()).toBeNull();
  }

  describe("a trigger of a running hook's key is neither lost nor run twice", () => {
    async function start(): Promise<{ running: ClaimedHook; second: HookInsert }> {
      await fixture.insert({ id: "a", key: "k", payload: "1" });
      return { running: await fixture.claimOne(), second: fixture.trigger({ id: "b", key: "k", payload: "2" }) };
    }

    test.each(OUTCOMES)("%s, when it is committed while the settling waits for it", async (_, outcome) => {
      const { running, second } = await start();
      const trigger = await holdTriggers(second);
      const settling = fixture.settle(running, outcome);
      await fixture.waiting(1);
      await trigger.end();

      expect(await settling).toBe("pending");
      await expectOneMoreRun();
    });

    test.each(OUTCOMES)("%s, when it comes while the settling waits", async (_, outcome) => {
      const { running, second } = await start();
      const holder = await fixture.lock("a");
      const settling = fixture.settle(running, outcome);
      await fixture.waiting(1);
      const triggering = fixture.hooks.insert([second]);
      await fixture.waiting(2);
      await holder.query("commit");

      const [[triggered], settled] = await Promise.all([triggering, settling]);
      // If it was settled first, a completed or failed hook doesn't hold its key any more.
      const apart = triggered?.result === "inserted";
      expect(apart ? ["deleted", "completed", "failed"] : ["pending"]).toContain(settled);
      fixture.clock.advance(10_000);
      await expectOneMoreRun();
    });

    test.each(OUTCOMES)("%s, when the settling comes while it waits", async (_, outcome) => {
      const { running, second } = await start();
      const holder = await fixture.lock("a");
      const triggering = fixture.hooks.insert([second]);
      await fixture.waiting(1);
      const settling = fixture.settle(running, outcome);
      await fixture.waiting(2);
      await holder.query("commit");

      await Promise.all([triggering, settling]);
      fixture.clock.advance(10_000);
      await expectOneMoreRun();
    });

    test("completed, when the settling is rolled back by a lost lease in between", async () => {
      const { running, second } = await start();
      const trigger = await holdTriggers(second);
      fixture.clock.advance(LEASE_MS);
      const settling = fixture.settle({ ...running, lock: "not any more" }, COMPLETED);
      await trigger.end();

      expect(await settling).toBe("lost");
      const takenOver = await fixture.claimOne();
      expect(takenOver).toMatchObject({ payload: "1", inDoubt: true });
      expect(await fixture.settle(takenOver, COMPLETED)).toBe("pending");
      await expectOneMoreRun();
    });
  });

  describe("triggers of one key that meet", () => {
    test("in one flush are one hook with the latest payload", async () => {
      const triggers = ["1", "2"].map((payload) => fixture.trigger({ key: "k", payload }));

      const results = await Promise.all(triggers.map((trigger) => fixture.store.hooks.insert([trigger])));

      expect(results.flat().map(({ id }) => id)).toEqual([triggers[1]?.id, triggers[1]?.id]);
      expect(await fixture.claim()).toMatchObject([{ triggers: 2, payload: "2" }]);
    });

    test("in two processes are one hook, whichever waits for the other", async () => {
      const first = await holdTriggers(fixture.trigger({ id: "a", key: "k", payload: "1" }));
      const others = ["2", "3"].map((payload) => fixture.hooks.insert([fixture.trigger({ key: "k", payload })]));
      await fixture.waiting(2);
      await first.end();

      expect((await Promise.all(others)).flat()).toMatchObject([
        { result: "collapsed", id: "a" },
        { result: "collapsed", id: "a" },
      ]);
      expect(await fixture.claim()).toMatchObject([{ id: "a", triggers: 3 }]);
    });

    test("are two hooks where the first was rolled back", async () => {
      const client = await fixture.begin();
      await client.query(insertSql, [fixture.namespace, "a", "k", fixture.clock.now()]);
      const other = fixture.hooks.insert([fixture.trigger({ id: "b", key: "k" })]);
      await fixture.waiting(1);
      await client.query("rollback");

      expect(await other).toMatchObject([{ result: "inserted", id: "b" }]);
      expect(await fixture.ids()).toEqual(["b"]);
    });

    test("with one id in two processes are one hook", async () => {
      const client = await fixture.begin();
      await client.query(insertSql, [fixture.namespace, "a", "k", fixture.clock.now()]);
      const other = fixture.store.hooks.insert([
        fixture.trigger({ id: "a", key: "other" }),
        fixture.trigger({ id: "b" }),
      ]);
      await fixture.waiting(1);
      await client.query("commit");
      // The flush is sent again after a pause.
      while (fixture.clock.timers === 0) await new Promise((resolve) => setImmediate(resolve));
      fixture.clock.advance(1000);

      expect(await other).toMatchObject([
        { result: "existing", id: "a" },
        { result: "inserted", id: "b" },
      ]);
    });
  });

  describe("a user's open transaction with a hook in it", () => {
    test("stalls no other inserts, claims, renewals and settlements", async () => {
      await fixture.insertMany(4);
      await fixture.insert({ key: "k" });
      const user = await fixture.begin();
      await user.query(insertSql, [fixture.namespace, "user", null, fixture.clock.now()]);

      const claimed = await fixture.claim();
      expect(claimed).toHaveLength(5);
      expect(await fixture.hooks.renew(claimed, LEASE_MS)).toHaveLength(5);
      expect(await fixture.insert({ key: "k" })).toMatchObject({ result: "collapsed" });
      expect(await fixture.insert({ id: "new" })).toMatchObject({ result: "inserted" });
      const settlements = claimed.map((hook) => ({ ...hook, keyed: hook.key !== null, outcome: COMPLETED }));
      expect(await fixture.hooks.settle(settlements)).toEqual(["deleted", "deleted", "deleted", "deleted", "pending"]);
      expect(await fixture.nextWake()).toBe(0);
      expect(await fixture.countWaiting()).toBe(0);

      await user.query("commit");
      expect((await fixture.claim()).map(({ id }) => id).sort()).toEqual([claimed[4]?.id, "new", "user"].sort());
    });

    test("leaves nothing when it is rolled back", async () => {
      const user = await fixture.begin();
      await user.query(insertSql, [fixture.namespace, "user", null, fixture.clock.now()]);
      expect(await fixture.claim()).toEqual([]);
      await user.query("rollback");

      expect(await fixture.claim()).toEqual([]);
      expect(await fixture.nextWake()).toBeNull();
    });
  });

  describe("flushes that write the same rows in different orders don't wait for each other", () => {
    /** The lowest id has the highest key. */
    async function startKeyed(): Promise<{ claimed: ClaimedHook[]; triggers: HookInsert[] }> {
      for (const [id, key] of [
        ["a", "z"],
        ["b", "y"],
        ["c", "x"],
      ] as const)
        await fixture.insert({ id, key });
      const claimed = await fixture.claim();
      return { claimed, triggers: ["x", "y", "z"].map((key) => fixture.trigger({ key })) };
    }

    test.each(OUTCOMES)("triggers and settlements: %s", async (_, outcome) => {
      const { claimed, triggers } = await startKeyed();
      const holder = await fixture.lock("a");
      const settling = fixture.hooks.settle(claimed.map((hook) => ({ ...hook, keyed: true, outcome })));
      await fixture.waiting(1);
      const triggering = fixture.hooks.insert(triggers);
      await fixture.waiting(2);
      await holder.query("commit");

      const [settled] = await Promise.all([settling, triggering]);
      expect(settled).not.toContain("lost");
    });

    test("triggers and renewals", async () => {
      const { claimed, triggers } = await startKeyed();
      const holder = await fixture.lock("a");
      const renewing = fixture.hooks.renew(claimed, LEASE_MS);
      await fixture.waiting(1);
      const triggering = fixture.hooks.insert(triggers);
      await fixture.waiting(2);
      await holder.query("commit");

      expect((await Promise.all([renewing, triggering]))[0]).toHaveLength(3);
    });

    test("renewals and settlements", async () => {
      for (const [id, name] of [
        ["a", "wave"],
        ["b", "greet"],
      ] as const)
        await fixture.insert({ id, name });
      const claimed = await fixture.claim({ scopes: [{ namespace: fixture.namespace, names: ["greet", "wave"] }] });
      const holder = await fixture.lock("b");
      const settling = fixture.hooks.settle(claimed.map((hook) => ({ ...hook, keyed: false, outcome: COMPLETED })));
      await fixture.waiting(1);
      const renewing = fixture.hooks.renew(claimed.toReversed(), LEASE_MS);
      await fixture.waiting(2);
      await holder.query("commit");

      expect((await Promise.all([settling, renewing]))[0]).toEqual(["deleted", "deleted"]);
    });
  });

  describe("a cancellation", () => {
    test("of a hook that is just claimed says that it runs, and drops what would run once more", async () => {
      await fixture.insert({ id: "a", key: "k" });
      const claimer = await fixture.begin();
      await claimer.query(
        `update perdure.hook set lock = 'theirs', class = 2, available_at = available_at + 1000, next_at = 1, next_payload = '2'
        where namespace = $1`,
        [fixture.namespace],
      );
      const cancelling = fixture.hooks.cancel(fixture.namespace, { name: "greet", key: "k" });
      await fixture.waiting(1);
      await claimer.query("commit");

      expect(await cancelling).toEqual({ cancelled: [], running: ["a"] });
      expect(
        await fixture.hooks.settle([
          { namespace: fixture.namespace, id: "a", lock: "theirs", keyed: true, outcome: COMPLETED },
        ]),
      ).toEqual(["deleted"]);
    });

    test("of a hook that is just given back cancels it", async () => {
      await fixture.insert({ id: "a", key: "k" });
      const running = await fixture.claimOne();
      const holder = await fixture.lock("a");
      const releasing = fixture.settle(running, RELEASED);
      await fixture.waiting(1);
      const cancelling = fixture.hooks.cancel(fixture.namespace, { id: "a" });
      await fixture.waiting(2);
      await holder.query("commit");

      await releasing;
      expect(await cancelling).toEqual({ cancelled: ["a"], running: [] });
      expect(await fixture.ids()).toEqual([]);
    });
  });

  test("a dead letter isn't redriven when another hook takes its key at that moment", async () => {
    await fixture.insert({ id: "a", key: "k" });
    await fixture.settle(await fixture.claimOne(), FAILED);
    await fixture.insert({ id: "b" });
    await fixture.settle(await fixture.claimOne(), FAILED);
    const newer = await holdTriggers(fixture.trigger({ id: "c", key: "k" }));
    const redriving = fixture.hooks.redrive(fixture.namespace, ["a", "b"]);
    await fixture.waiting(1);
    await newer.end();

    expect(await redriving).toEqual(["b"]);
    expect(await fixture.get("a")).toMatchObject({ status: "failed" });
  });
});

const insertSql = `insert into perdure.hook
  (namespace, id, name, key, payload, created_at, triggered_at, attempts, class, available_at)
  values ($1, $2, 'greet', $3, 'null', $4, $4, 0, 1, $4)`;

import { describe, expect, it } from "vitest";
import type { ClaimedHook, HookInsert, HookOutcome } from "../../src/store/hook-records.ts";
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
  const test = usePostgres();

  /** Runs triggers in a transaction that stays open until `end` is called. */
  async function holdTriggers(...triggers: HookInsert[]): Promise<{ end: () => Promise<void> }> {
    const inserted = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const transaction = test.store.engine.transaction(async (tx) => {
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
    const again = await test.claimOne();
    expect(again).toMatchObject({ key: "k", payload: "2", attempts: 1, recoveries: 0 });
    expect(await test.settle(again, COMPLETED)).toBe("deleted");
    expect(await test.nextWake()).toBeNull();
  }

  describe("a trigger of a running hook's key is neither lost nor run twice", () => {
    async function start(): Promise<{ running: ClaimedHook; second: HookInsert }> {
      await test.insert({ id: "a", key: "k", payload: "1" });
      return { running: await test.claimOne(), second: test.trigger({ id: "b", key: "k", payload: "2" }) };
    }

    it.each(OUTCOMES)("%s, when it is committed while the settling waits for it", async (_, outcome) => {
      const { running, second } = await start();
      const trigger = await holdTriggers(second);
      const settling = test.settle(running, outcome);
      await test.waiting(1);
      await trigger.end();

      expect(await settling).toBe("pending");
      await expectOneMoreRun();
    });

    it.each(OUTCOMES)("%s, when it comes while the settling waits", async (_, outcome) => {
      const { running, second } = await start();
      const holder = await test.lock("a");
      const settling = test.settle(running, outcome);
      await test.waiting(1);
      const triggering = test.hooks.insert([second]);
      await test.waiting(2);
      await holder.query("commit");

      const [[triggered], settled] = await Promise.all([triggering, settling]);
      // If it was settled first, a completed or failed hook doesn't hold its key any more.
      const apart = triggered?.result === "inserted";
      expect(apart ? ["deleted", "completed", "failed"] : ["pending"]).toContain(settled);
      test.clock.advance(10_000);
      await expectOneMoreRun();
    });

    it.each(OUTCOMES)("%s, when the settling comes while it waits", async (_, outcome) => {
      const { running, second } = await start();
      const holder = await test.lock("a");
      const triggering = test.hooks.insert([second]);
      await test.waiting(1);
      const settling = test.settle(running, outcome);
      await test.waiting(2);
      await holder.query("commit");

      await Promise.all([triggering, settling]);
      test.clock.advance(10_000);
      await expectOneMoreRun();
    });

    it("completed, when the settling is rolled back by a lost lease in between", async () => {
      const { running, second } = await start();
      const trigger = await holdTriggers(second);
      test.clock.advance(LEASE_MS);
      const settling = test.settle({ ...running, lock: "not any more" }, COMPLETED);
      await trigger.end();

      expect(await settling).toBe("lost");
      const takenOver = await test.claimOne();
      expect(takenOver).toMatchObject({ payload: "1", unconfirmed: true });
      expect(await test.settle(takenOver, COMPLETED)).toBe("pending");
      await expectOneMoreRun();
    });
  });

  describe("triggers of one key that meet", () => {
    it("in one flush are one hook with the latest payload", async () => {
      const triggers = ["1", "2"].map((payload) => test.trigger({ key: "k", payload }));

      const results = await Promise.all(triggers.map((trigger) => test.store.hooks.insert([trigger])));

      expect(results.flat().map(({ id }) => id)).toEqual([triggers[1]?.id, triggers[1]?.id]);
      expect(await test.claim()).toMatchObject([{ triggers: 2, payload: "2" }]);
    });

    it("in two processes are one hook, whoever waits for whom", async () => {
      const first = await holdTriggers(test.trigger({ id: "a", key: "k", payload: "1" }));
      const others = ["2", "3"].map((payload) => test.hooks.insert([test.trigger({ key: "k", payload })]));
      await test.waiting(2);
      await first.end();

      expect((await Promise.all(others)).flat()).toMatchObject([
        { result: "collapsed", id: "a" },
        { result: "collapsed", id: "a" },
      ]);
      expect(await test.claim()).toMatchObject([{ id: "a", triggers: 3 }]);
    });

    it("are two hooks where the first was rolled back", async () => {
      const client = await test.begin();
      await client.query(insertSql, [test.namespace, "a", "k", test.clock.now()]);
      const other = test.hooks.insert([test.trigger({ id: "b", key: "k" })]);
      await test.waiting(1);
      await client.query("rollback");

      expect(await other).toMatchObject([{ result: "inserted", id: "b" }]);
      expect(await test.ids()).toEqual(["b"]);
    });

    it("with one id in two processes are one hook", async () => {
      const client = await test.begin();
      await client.query(insertSql, [test.namespace, "a", "k", test.clock.now()]);
      const other = test.store.hooks.insert([test.trigger({ id: "a", key: "other" }), test.trigger({ id: "b" })]);
      await test.waiting(1);
      await client.query("commit");
      // The flush is sent again after a pause.
      while (test.clock.timers === 0) await new Promise((resolve) => setImmediate(resolve));
      test.clock.advance(1000);

      expect(await other).toMatchObject([
        { result: "existing", id: "a" },
        { result: "inserted", id: "b" },
      ]);
    });
  });

  describe("a user's open transaction with a hook in it", () => {
    it("stalls nobody's inserts, claims, renewals and settlements", async () => {
      await test.insertMany(4);
      await test.insert({ key: "k" });
      const user = await test.begin();
      await user.query(insertSql, [test.namespace, "user", null, test.clock.now()]);

      const claimed = await test.claim();
      expect(claimed).toHaveLength(5);
      expect(await test.hooks.renew(claimed, LEASE_MS)).toHaveLength(5);
      expect(await test.insert({ key: "k" })).toMatchObject({ result: "collapsed" });
      expect(await test.insert({ id: "new" })).toMatchObject({ result: "inserted" });
      const settlements = claimed.map((hook) => ({ ...hook, keyed: hook.key !== null, outcome: COMPLETED }));
      expect(await test.hooks.settle(settlements)).toEqual(["deleted", "deleted", "deleted", "deleted", "pending"]);
      expect(await test.nextWake()).toBe(0);
      expect(await test.countWaiting()).toBe(0);

      await user.query("commit");
      expect((await test.claim()).map(({ id }) => id).sort()).toEqual([claimed[4]?.id, "new", "user"].sort());
    });

    it("leaves nothing when it is rolled back", async () => {
      const user = await test.begin();
      await user.query(insertSql, [test.namespace, "user", null, test.clock.now()]);
      expect(await test.claim()).toEqual([]);
      await user.query("rollback");

      expect(await test.claim()).toEqual([]);
      expect(await test.nextWake()).toBeNull();
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
        await test.insert({ id, key });
      const claimed = await test.claim();
      return { claimed, triggers: ["x", "y", "z"].map((key) => test.trigger({ key })) };
    }

    it.each(OUTCOMES)("triggers and settlements: %s", async (_, outcome) => {
      const { claimed, triggers } = await startKeyed();
      const holder = await test.lock("a");
      const settling = test.hooks.settle(claimed.map((hook) => ({ ...hook, keyed: true, outcome })));
      await test.waiting(1);
      const triggering = test.hooks.insert(triggers);
      await test.waiting(2);
      await holder.query("commit");

      const [settled] = await Promise.all([settling, triggering]);
      expect(settled).not.toContain("lost");
    });

    it("triggers and renewals", async () => {
      const { claimed, triggers } = await startKeyed();
      const holder = await test.lock("a");
      const renewing = test.hooks.renew(claimed, LEASE_MS);
      await test.waiting(1);
      const triggering = test.hooks.insert(triggers);
      await test.waiting(2);
      await holder.query("commit");

      expect((await Promise.all([renewing, triggering]))[0]).toHaveLength(3);
    });

    it("renewals and settlements", async () => {
      for (const [id, name] of [
        ["a", "wave"],
        ["b", "greet"],
      ] as const)
        await test.insert({ id, name });
      const claimed = await test.claim({ scopes: [{ namespace: test.namespace, names: ["greet", "wave"] }] });
      const holder = await test.lock("b");
      const settling = test.hooks.settle(claimed.map((hook) => ({ ...hook, keyed: false, outcome: COMPLETED })));
      await test.waiting(1);
      const renewing = test.hooks.renew(claimed.toReversed(), LEASE_MS);
      await test.waiting(2);
      await holder.query("commit");

      expect((await Promise.all([settling, renewing]))[0]).toEqual(["deleted", "deleted"]);
    });
  });

  describe("a cancellation", () => {
    it("of a hook that is just claimed says that it runs, and drops what would run once more", async () => {
      await test.insert({ id: "a", key: "k" });
      const claimer = await test.begin();
      await claimer.query(
        `update perdure.hook set lock = 'theirs', class = 2, available_at = available_at + 1000, next_at = 1, next_payload = '2'
        where namespace = $1`,
        [test.namespace],
      );
      const cancelling = test.hooks.cancel(test.namespace, { name: "greet", key: "k" });
      await test.waiting(1);
      await claimer.query("commit");

      expect(await cancelling).toEqual({ cancelled: [], running: ["a"] });
      expect(
        await test.hooks.settle([
          { namespace: test.namespace, id: "a", lock: "theirs", keyed: true, outcome: COMPLETED },
        ]),
      ).toEqual(["deleted"]);
    });

    it("of a hook that is just given back cancels it", async () => {
      await test.insert({ id: "a", key: "k" });
      const running = await test.claimOne();
      const holder = await test.lock("a");
      const releasing = test.settle(running, RELEASED);
      await test.waiting(1);
      const cancelling = test.hooks.cancel(test.namespace, { id: "a" });
      await test.waiting(2);
      await holder.query("commit");

      await releasing;
      expect(await cancelling).toEqual({ cancelled: ["a"], running: [] });
      expect(await test.ids()).toEqual([]);
    });
  });

  it("a dead letter isn't redriven when another hook takes its key at that moment", async () => {
    await test.insert({ id: "a", key: "k" });
    await test.settle(await test.claimOne(), FAILED);
    await test.insert({ id: "b" });
    await test.settle(await test.claimOne(), FAILED);
    const newer = await holdTriggers(test.trigger({ id: "c", key: "k" }));
    const redriving = test.hooks.redrive(test.namespace, ["a", "b"]);
    await test.waiting(1);
    await newer.end();

    expect(await redriving).toEqual(["b"]);
    expect(await test.get("a")).toMatchObject({ status: "failed" });
  });
});

const insertSql = `insert into perdure.hook
  (namespace, id, name, key, payload, created_at, triggered_at, attempts, class, available_at)
  values ($1, $2, 'greet', $3, 'null', $4, $4, 0, 1, $4)`;

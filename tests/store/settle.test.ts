import { describe, expect, test } from "vitest";
import type { HookOutcome, SettleResult } from "../../src/store/hooks/hook-records.ts";
import { WorkClass } from "../../src/store/queue/work-class.ts";
import { DRIVERS, ENCRYPTED_SQLITE } from "../support/engines.ts";
import { COMPLETED, FAILED, KEPT, LEASE_MS, RELEASED, retryAfter, useStore } from "../support/use-store.ts";

const OUTCOMES: [string, HookOutcome][] = [
  ["completed", COMPLETED],
  ["completed and kept", KEPT],
  ["retry", retryAfter(5000)],
  ["failed", FAILED],
  ["released", RELEASED],
];

describe.each([...DRIVERS, ENCRYPTED_SQLITE])("settling hooks on $name", (engine) => {
  const fixture = useStore(engine);

  describe.each([
    ["without a key", null],
    ["with a key", "k"],
  ])("%s", (_, key) => {
    test("completed: deletes it", async () => {
      await fixture.insert({ id: "a", key });

      expect(await fixture.settle(await fixture.claimOne(), COMPLETED)).toBe("deleted");
      expect(await fixture.get("a")).toBeNull();
    });

    test("completed and kept: keeps it as completed", async () => {
      await fixture.insert({ id: "a", key });
      const hook = await fixture.claimOne();
      fixture.clock.advance(10);

      expect(await fixture.settle(hook, KEPT)).toBe("completed");
      expect(await fixture.get("a")).toMatchObject({
        status: "completed",
        attempts: 1,
        error: null,
        availableAt: null,
        finishedAt: fixture.clock.now(),
      });
    });

    test("retry: is due again after the delay, with its attempts and its error", async () => {
      await fixture.insert({ id: "a", key });

      expect(await fixture.settle(await fixture.claimOne(), retryAfter(5000))).toBe("pending");
      expect(await fixture.get("a")).toMatchObject({
        status: "pending",
        class: WorkClass.continuing,
        attempts: 1,
        error: '{"message":"not yet"}',
        availableAt: fixture.clock.now() + 5000,
        finishedAt: null,
      });
      fixture.clock.advance(5000);
      expect(await fixture.claim()).toMatchObject([{ attempts: 2, recoveries: 0 }]);
    });

    test("failed: keeps it as a dead letter", async () => {
      await fixture.insert({ id: "a", key });

      expect(await fixture.settle(await fixture.claimOne(), FAILED)).toBe("failed");
      expect(await fixture.get("a")).toMatchObject({
        status: "failed",
        attempts: 1,
        error: '{"message":"no"}',
        availableAt: null,
        finishedAt: fixture.clock.now(),
      });
    });

    test("released: gives it back with its attempt", async () => {
      await fixture.insert({ id: "a", key });

      expect(await fixture.settle(await fixture.claimOne(), RELEASED)).toBe("pending");
      expect(await fixture.get("a")).toMatchObject({
        status: "pending",
        class: WorkClass.continuing,
        attempts: 0,
        availableAt: fixture.clock.now(),
      });
      expect(await fixture.claim()).toMatchObject([{ attempts: 1, recoveries: 0 }]);
    });

    test.each(OUTCOMES)("%s: is lost when another worker has taken it over", async (__, outcome) => {
      await fixture.insert({ id: "a", key });
      const lost = await fixture.claimOne();
      fixture.clock.advance(LEASE_MS);
      const owner = await fixture.claimOne();

      expect(await fixture.settle(lost, outcome)).toBe("lost");
      expect(await fixture.get("a")).toMatchObject({ status: "processing", attempts: 1, error: null });
      expect(await fixture.settle(owner, COMPLETED)).toBe("deleted");
    });

    test.each(OUTCOMES)("%s: says the same when it is sent again, because the reply was lost", async (__, outcome) => {
      await fixture.insert({ id: "a", key });
      const hook = await fixture.claimOne();
      const first = await fixture.settle(hook, outcome);
      const settled = await fixture.get("a");

      expect(await fixture.settle(hook, outcome)).toBe(first);
      expect(await fixture.get("a")).toEqual(settled);
    });
  });

  test("released: keeps the recoveries of a hook that was taken over, so that it runs alone again", async () => {
    await fixture.insert({ id: "a" });
    await fixture.hooks.count([{ ...(await fixture.claimOne()), begins: true }]);
    fixture.clock.advance(LEASE_MS);
    await fixture.settle(await fixture.claimOne(), RELEASED);

    expect(await fixture.get("a")).toMatchObject({ class: WorkClass.leased, attempts: 1, recoveries: 1 });
    expect(await fixture.claim({ takeOver: false })).toEqual([]);
    expect(await fixture.claim()).toMatchObject([{ id: "a", attempts: 2, recoveries: 1 }]);
  });

  test.each([
    ["retry", retryAfter(0)],
    ["failed", FAILED],
    ["completed", KEPT],
  ])("%s: forgets the recoveries", async (_, outcome) => {
    await fixture.insert({ id: "a" });
    await fixture.claimOne();
    fixture.clock.advance(LEASE_MS);
    await fixture.settle(await fixture.claimOne(), outcome);

    expect((await fixture.get("a"))?.recoveries).toBe(0);
  });

  test("released: keeps the error of the attempt before", async () => {
    await fixture.insert({ id: "a" });
    await fixture.settle(await fixture.claimOne(), retryAfter(0));
    await fixture.settle(await fixture.claimOne(), RELEASED);

    expect(await fixture.get("a")).toMatchObject({ attempts: 1, error: '{"message":"not yet"}' });
  });

  test("completed: forgets the error of the attempt before", async () => {
    await fixture.insert({ id: "a" });
    await fixture.settle(await fixture.claimOne(), retryAfter(0));
    await fixture.settle(await fixture.claimOne(), KEPT);

    expect(await fixture.get("a")).toMatchObject({ status: "completed", error: null });
  });

  test.each(OUTCOMES)(
    "%s: a trigger of its key that came while it ran makes it pending instead",
    async (_, outcome) => {
      await fixture.insert({ id: "a", key: "k", payload: "1" });
      const running = await fixture.claimOne();
      await fixture.insert({ key: "k", payload: "2" });

      expect(await fixture.settle(running, outcome)).toBe("pending");
      expect(await fixture.get("a")).toMatchObject({
        status: "pending",
        class: WorkClass.fresh,
        attempts: 0,
        recoveries: 0,
        triggers: 2,
        payload: "2",
        error: null,
        availableAt: fixture.clock.now(),
        finishedAt: null,
      });
      expect(await fixture.settle(running, outcome)).toBe("pending");
      const again = await fixture.claimOne();
      expect(again).toMatchObject({ payload: "2", attempts: 1, triggers: 2 });
      expect(await fixture.settle(again, COMPLETED)).toBe("deleted");
    },
  );

  test("settles each for itself, in any order, and gives results in the order asked", async () => {
    await fixture.insertMany(5, { name: "greet" });
    await fixture.insert({ id: "z", key: "k" });
    const claimed = await fixture.claim();
    await fixture.insert({ key: "k" });
    const outcomes: HookOutcome[] = [FAILED, COMPLETED, retryAfter(1000), KEPT, RELEASED, COMPLETED];
    const settlements = claimed
      .map((hook, index) => ({ ...hook, keyed: hook.key !== null, outcome: outcomes[index] as HookOutcome }))
      .reverse();

    const results: SettleResult[] = await fixture.hooks.settle(settlements);

    expect(results).toEqual(["pending", "pending", "completed", "pending", "deleted", "failed"]);
  });

  test("settles the rest when one is lost", async () => {
    await fixture.insertMany(3);
    const claimed = await fixture.claim();
    const settlements = claimed.map((hook, index) => ({
      ...hook,
      lock: index === 1 ? "somebody else" : hook.lock,
      keyed: false,
      outcome: COMPLETED,
    }));

    expect(await fixture.hooks.settle(settlements)).toEqual(["deleted", "lost", "deleted"]);
    expect(await fixture.ids()).toEqual([claimed[1]?.id]);
  });

  test("keeps for ever what is kept for an infinite time", async () => {
    await fixture.insert({ id: "a" });
    await fixture.settle(await fixture.claimOne(), { kind: "completed", keepMs: Number.POSITIVE_INFINITY });
    fixture.clock.advance(10 ** 12);

    expect(await fixture.hooks.purge(fixture.namespace, 10)).toBe(0);
    expect(await fixture.get("a")).toMatchObject({ status: "completed" });
  });

  test("does nothing with nothing", async () => {
    expect(await fixture.hooks.settle([])).toEqual([]);
  });
});

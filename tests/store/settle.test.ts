import { describe, expect, it } from "vitest";
import type { HookOutcome, SettleResult } from "../../src/store/hook-records.ts";
import { WorkClass } from "../../src/store/work-class.ts";
import { ENCRYPTED_SQLITE, ENGINES } from "../support/engines.ts";
import { COMPLETED, FAILED, KEPT, LEASE_MS, RELEASED, retryAfter, useStore } from "../support/use-store.ts";

const OUTCOMES: [string, HookOutcome][] = [
  ["completed", COMPLETED],
  ["completed and kept", KEPT],
  ["retry", retryAfter(5000)],
  ["failed", FAILED],
  ["released", RELEASED],
];

describe.each([...ENGINES, ENCRYPTED_SQLITE])("settling hooks on $name", (engine) => {
  const test = useStore(engine);

  describe.each([
    ["without a key", null],
    ["with a key", "k"],
  ])("%s", (_, key) => {
    it("completed: deletes it", async () => {
      await test.insert({ id: "a", key });

      expect(await test.settle(await test.claimOne(), COMPLETED)).toBe("deleted");
      expect(await test.get("a")).toBeNull();
    });

    it("completed and kept: keeps it as completed", async () => {
      await test.insert({ id: "a", key });
      const hook = await test.claimOne();
      test.clock.advance(10);

      expect(await test.settle(hook, KEPT)).toBe("completed");
      expect(await test.get("a")).toMatchObject({
        status: "completed",
        attempts: 1,
        error: null,
        availableAt: null,
        finishedAt: test.clock.now(),
      });
    });

    it("retry: is due again after the delay, with its attempts and its error", async () => {
      await test.insert({ id: "a", key });

      expect(await test.settle(await test.claimOne(), retryAfter(5000))).toBe("pending");
      expect(await test.get("a")).toMatchObject({
        status: "pending",
        class: WorkClass.continuing,
        attempts: 1,
        error: '{"message":"not yet"}',
        availableAt: test.clock.now() + 5000,
        finishedAt: null,
      });
      test.clock.advance(5000);
      expect(await test.claim()).toMatchObject([{ attempts: 2, recoveries: 0 }]);
    });

    it("failed: keeps it as a dead letter", async () => {
      await test.insert({ id: "a", key });

      expect(await test.settle(await test.claimOne(), FAILED)).toBe("failed");
      expect(await test.get("a")).toMatchObject({
        status: "failed",
        attempts: 1,
        error: '{"message":"no"}',
        availableAt: null,
        finishedAt: test.clock.now(),
      });
    });

    it("released: gives it back with its attempt", async () => {
      await test.insert({ id: "a", key });

      expect(await test.settle(await test.claimOne(), RELEASED)).toBe("pending");
      expect(await test.get("a")).toMatchObject({
        status: "pending",
        class: WorkClass.continuing,
        attempts: 0,
        availableAt: test.clock.now(),
      });
      expect(await test.claim()).toMatchObject([{ attempts: 1, recoveries: 0 }]);
    });

    it.each(OUTCOMES)("%s: is lost when somebody else has taken it over", async (__, outcome) => {
      await test.insert({ id: "a", key });
      const lost = await test.claimOne();
      test.clock.advance(LEASE_MS);
      const owner = await test.claimOne();

      expect(await test.settle(lost, outcome)).toBe("lost");
      expect(await test.get("a")).toMatchObject({ status: "processing", attempts: 1, error: null });
      expect(await test.settle(owner, COMPLETED)).toBe("deleted");
    });

    it.each(OUTCOMES)("%s: says the same when it is sent again, because the reply was lost", async (__, outcome) => {
      await test.insert({ id: "a", key });
      const hook = await test.claimOne();
      const first = await test.settle(hook, outcome);
      const settled = await test.get("a");

      expect(await test.settle(hook, outcome)).toBe(first);
      expect(await test.get("a")).toEqual(settled);
    });
  });

  it("released: keeps the recoveries of a hook that was taken over, so that it runs alone again", async () => {
    await test.insert({ id: "a" });
    await test.hooks.count([{ ...(await test.claimOne()), begins: true }]);
    test.clock.advance(LEASE_MS);
    await test.settle(await test.claimOne(), RELEASED);

    expect(await test.get("a")).toMatchObject({ class: WorkClass.leased, attempts: 1, recoveries: 1 });
    expect(await test.claim({ takeOver: false })).toEqual([]);
    expect(await test.claim()).toMatchObject([{ id: "a", attempts: 2, recoveries: 1 }]);
  });

  it.each([
    ["retry", retryAfter(0)],
    ["failed", FAILED],
    ["completed", KEPT],
  ])("%s: forgets the recoveries", async (_, outcome) => {
    await test.insert({ id: "a" });
    await test.claimOne();
    test.clock.advance(LEASE_MS);
    await test.settle(await test.claimOne(), outcome);

    expect((await test.get("a"))?.recoveries).toBe(0);
  });

  it("released: keeps the error of the attempt before", async () => {
    await test.insert({ id: "a" });
    await test.settle(await test.claimOne(), retryAfter(0));
    await test.settle(await test.claimOne(), RELEASED);

    expect(await test.get("a")).toMatchObject({ attempts: 1, error: '{"message":"not yet"}' });
  });

  it("completed: forgets the error of the attempt before", async () => {
    await test.insert({ id: "a" });
    await test.settle(await test.claimOne(), retryAfter(0));
    await test.settle(await test.claimOne(), KEPT);

    expect(await test.get("a")).toMatchObject({ status: "completed", error: null });
  });

  it.each(OUTCOMES)("%s: a trigger of its key that came while it ran makes it pending instead", async (_, outcome) => {
    await test.insert({ id: "a", key: "k", payload: "1" });
    const running = await test.claimOne();
    await test.insert({ key: "k", payload: "2" });

    expect(await test.settle(running, outcome)).toBe("pending");
    expect(await test.get("a")).toMatchObject({
      status: "pending",
      class: WorkClass.fresh,
      attempts: 0,
      recoveries: 0,
      triggers: 2,
      payload: "2",
      error: null,
      availableAt: test.clock.now(),
      finishedAt: null,
    });
    expect(await test.settle(running, outcome)).toBe("pending");
    const again = await test.claimOne();
    expect(again).toMatchObject({ payload: "2", attempts: 1, triggers: 2 });
    expect(await test.settle(again, COMPLETED)).toBe("deleted");
  });

  it("settles each for itself, in any order, and gives results in the order asked", async () => {
    await test.insertMany(5, { name: "greet" });
    await test.insert({ id: "z", key: "k" });
    const claimed = await test.claim();
    await test.insert({ key: "k" });
    const outcomes: HookOutcome[] = [FAILED, COMPLETED, retryAfter(1000), KEPT, RELEASED, COMPLETED];
    const settlements = claimed
      .map((hook, index) => ({ ...hook, keyed: hook.key !== null, outcome: outcomes[index] as HookOutcome }))
      .reverse();

    const results: SettleResult[] = await test.hooks.settle(settlements);

    expect(results).toEqual(["pending", "pending", "completed", "pending", "deleted", "failed"]);
  });

  it("settles the rest when one is lost", async () => {
    await test.insertMany(3);
    const claimed = await test.claim();
    const settlements = claimed.map((hook, index) => ({
      ...hook,
      lock: index === 1 ? "somebody else" : hook.lock,
      keyed: false,
      outcome: COMPLETED,
    }));

    expect(await test.hooks.settle(settlements)).toEqual(["deleted", "lost", "deleted"]);
    expect(await test.ids()).toEqual([claimed[1]?.id]);
  });

  it("keeps for ever what is kept for an infinite time", async () => {
    await test.insert({ id: "a" });
    await test.settle(await test.claimOne(), { kind: "completed", keepMs: Number.POSITIVE_INFINITY });
    test.clock.advance(10 ** 12);

    expect(await test.hooks.purge(test.namespace, 10)).toBe(0);
    expect(await test.get("a")).toMatchObject({ status: "completed" });
  });

  it("does nothing with nothing", async () => {
    expect(await test.hooks.settle([])).toEqual([]);
  });
});

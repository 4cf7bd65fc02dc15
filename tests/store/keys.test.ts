import { describe, expect, it } from "vitest";
import { ENCRYPTED_SQLITE, ENGINES } from "../support/engines.ts";
import { COMPLETED, FAILED, KEPT, LEASE_MS, retryAfter, useStore } from "../support/use-store.ts";

describe.each([...ENGINES, ENCRYPTED_SQLITE])("keys on $name", (engine) => {
  const test = useStore(engine);

  describe("while a hook of the key is pending", () => {
    it("takes the latest payload, policy and trace, and counts the triggers", async () => {
      await test.insert({ id: "a", key: "k", payload: "1", retries: '{"limit":1}', trace: '"t1"' });
      const result = await test.insert({ id: "b", key: "k", payload: "2", retries: '{"limit":2}', trace: '"t2"' });

      expect(result).toEqual({ result: "collapsed", id: "a", at: test.clock.now() });
      expect(await test.ids()).toEqual(["a"]);
      expect(await test.claim()).toMatchObject([
        { id: "a", payload: "2", retries: '{"limit":2}', trace: '"t2"', triggers: 2, attempts: 1 },
      ]);
    });

    it("drops a policy that the latest trigger doesn't have", async () => {
      await test.insert({ key: "k", retries: '{"limit":1}', trace: '"t1"' });
      await test.insert({ key: "k" });

      expect(await test.claim()).toMatchObject([{ retries: null, trace: null }]);
    });

    it.each([
      ["earlier", 1000, 5000],
      ["later", 5000, 1000],
    ])("is due at the earliest time, when the second is %s", async (_, second, first) => {
      const now = test.clock.now();
      await test.insert({ id: "a", key: "k", processAt: now + first });
      await test.insert({ key: "k", processAt: now + second });

      expect((await test.get("a"))?.availableAt).toBe(now + 1000);
    });

    it("is due at once when the second trigger has no time", async () => {
      await test.insert({ id: "a", key: "k", processAt: test.clock.now() + 5000 });
      await test.insert({ key: "k" });

      expect((await test.get("a"))?.availableAt).toBe(test.clock.now());
    });

    it("starts a hook that waits for a retry with fresh attempts", async () => {
      await test.insert({ id: "a", key: "k" });
      await test.settle(await test.claimOne(), retryAfter(5000));
      await test.insert({ key: "k", payload: "2" });

      expect(await test.claim()).toMatchObject([{ id: "a", attempts: 1, payload: "2", triggers: 2 }]);
    });

    it("counts merged triggers by their number", async () => {
      await test.insert({ id: "a", key: "k", triggers: 3 });
      await test.insert({ key: "k", triggers: 4 });

      expect((await test.get("a"))?.triggers).toBe(7);
    });

    it("keeps the newer payload when an older trigger comes late", async () => {
      const now = test.clock.now();
      await test.insert({ id: "a", key: "k", payload: "2", triggeredAt: now });
      await test.insert({ key: "k", payload: "1", triggeredAt: now - 1000 });

      expect(await test.claim()).toMatchObject([{ id: "a", payload: "2", triggers: 2 }]);
    });

    it("counts a trigger once that is sent again", async () => {
      await test.insert({ id: "a", key: "k" });
      const second = test.trigger({ id: "b", key: "k" });
      await test.hooks.insert([second]);

      expect(await test.hooks.insert([second])).toMatchObject([{ result: "existing", id: "a" }]);
      expect((await test.get("a"))?.triggers).toBe(2);
    });

    it("counts the first trigger once when it is sent again after another", async () => {
      const first = test.trigger({ id: "a", key: "k", payload: "1" });
      await test.hooks.insert([first]);
      await test.insert({ id: "b", key: "k", payload: "2" });

      expect(await test.hooks.insert([first])).toMatchObject([{ result: "existing", id: "a" }]);
      expect(await test.get("a")).toMatchObject({ triggers: 2, payload: "2" });
    });
  });

  describe("while the hook of the key runs", () => {
    it("stores the trigger beside it, and runs it once more with fresh attempts", async () => {
      await test.insert({ id: "a", key: "k", payload: "1", retries: '{"limit":1}' });
      const running = await test.claimOne();
      const result = await test.insert({ id: "b", key: "k", payload: "2", retries: '{"limit":2}', trace: '"t2"' });

      expect(result).toMatchObject({ result: "collapsed", id: "a" });
      expect(await test.get("a")).toMatchObject({
        status: "processing",
        payload: "1",
        retries: '{"limit":1}',
        triggers: 1,
      });
      expect(await test.settle(running, COMPLETED)).toBe("pending");
      expect(await test.claim()).toMatchObject([
        { id: "a", payload: "2", retries: '{"limit":2}', trace: '"t2"', attempts: 1, recoveries: 0, triggers: 2 },
      ]);
    });

    it("runs once more for many triggers, with the latest payload", async () => {
      await test.insert({ id: "a", key: "k", payload: "1" });
      const running = await test.claimOne();
      await test.insert({ key: "k", payload: "2" });
      await test.insert({ key: "k", payload: "3", triggers: 2 });
      await test.settle(running, COMPLETED);
      const again = await test.claimOne();

      expect(again).toMatchObject({ id: "a", payload: "3", triggers: 4 });
      expect(await test.settle(again, COMPLETED)).toBe("deleted");
      expect(await test.ids()).toEqual([]);
    });

    it("runs once more at the earliest time that was asked for", async () => {
      const now = test.clock.now();
      await test.insert({ id: "a", key: "k" });
      const running = await test.claimOne();
      await test.insert({ key: "k", processAt: now + 9000 });
      await test.insert({ key: "k", processAt: now + 4000 });
      await test.insert({ key: "k", processAt: now + 6000 });
      await test.settle(running, COMPLETED);

      expect((await test.get("a"))?.availableAt).toBe(now + 4000);
    });

    it("is due when it is settled, if the asked time has passed by then", async () => {
      await test.insert({ id: "a", key: "k" });
      const running = await test.claimOne();
      await test.insert({ key: "k" });
      test.clock.advance(700);
      await test.settle(running, COMPLETED);

      expect((await test.get("a"))?.availableAt).toBe(test.clock.now());
    });

    it("keeps the newer payload when an older trigger comes late", async () => {
      const now = test.clock.now();
      await test.insert({ id: "a", key: "k", payload: "1", triggeredAt: now - 2000 });
      const running = await test.claimOne();
      await test.insert({ key: "k", payload: "3", triggeredAt: now });
      await test.insert({ key: "k", payload: "2", triggeredAt: now - 1000 });
      await test.settle(running, COMPLETED);

      expect(await test.claim()).toMatchObject([{ payload: "3", triggers: 3 }]);
    });

    it("runs once more with the payload that runs, when an older trigger comes late", async () => {
      const now = test.clock.now();
      await test.insert({ id: "a", key: "k", payload: "2", retries: '{"limit":2}', triggeredAt: now });
      const running = await test.claimOne();
      await test.insert({ key: "k", payload: "1", triggeredAt: now - 1000 });
      await test.settle(running, COMPLETED);

      expect(await test.claim()).toMatchObject([{ payload: "2", retries: '{"limit":2}', triggers: 2 }]);
    });

    it("counts a trigger once that is sent again", async () => {
      await test.insert({ id: "a", key: "k" });
      const running = await test.claimOne();
      const second = test.trigger({ id: "b", key: "k" });
      await test.hooks.insert([second]);
      expect(await test.hooks.insert([second])).toMatchObject([{ result: "existing", id: "a" }]);
      await test.settle(running, COMPLETED);

      expect((await test.get("a"))?.triggers).toBe(2);
    });

    it("keeps the trigger when the owner is lost", async () => {
      await test.insert({ id: "a", key: "k", payload: "1" });
      await test.claimOne();
      await test.insert({ key: "k", payload: "2" });
      test.clock.advance(LEASE_MS);
      const takenOver = await test.claimOne();

      expect(takenOver).toMatchObject({ payload: "1", unconfirmed: true });
      expect(await test.settle(takenOver, COMPLETED)).toBe("pending");
      expect(await test.claim()).toMatchObject([{ payload: "2", attempts: 1, recoveries: 0 }]);
    });
  });

  describe("a finished hook doesn't hold its key:", () => {
    it.each([
      ["a dead letter", FAILED],
      ["a completed one that is kept", KEPT],
    ])("%s", async (_, outcome) => {
      await test.insert({ id: "a", key: "k" });
      await test.settle(await test.claimOne(), outcome);

      expect(await test.insert({ id: "b", key: "k" })).toMatchObject({ result: "inserted", id: "b" });
      expect(await test.claim()).toMatchObject([{ id: "b", triggers: 1, attempts: 1 }]);
      expect(await test.ids()).toEqual(["a", "b"]);
    });

    it("a completed one that is deleted", async () => {
      await test.insert({ id: "a", key: "k" });
      await test.settle(await test.claimOne(), COMPLETED);

      expect(await test.insert({ id: "b", key: "k" })).toMatchObject({ result: "inserted", id: "b" });
    });
  });

  it("belong to one name in one namespace", async () => {
    await test.insert({ key: "k" });

    expect(await test.insert({ key: "k", name: "wave" })).toMatchObject({ result: "inserted" });
    expect(await test.insert({ key: "k", namespace: `${test.namespace}-other` })).toMatchObject({ result: "inserted" });
    expect(await test.insert({ key: "K" })).toMatchObject({ result: "inserted" });
  });

  it("go together with triggers without keys in one batch", async () => {
    await test.insert({ id: "held", key: "k" });

    const results = await test.hooks.insert([
      test.trigger({ id: "a" }),
      test.trigger({ id: "b", key: "k" }),
      test.trigger({ id: "c", key: "l" }),
    ]);

    expect(results).toMatchObject([
      { result: "inserted", id: "a" },
      { result: "collapsed", id: "held" },
      { result: "inserted", id: "c" },
    ]);
  });
});

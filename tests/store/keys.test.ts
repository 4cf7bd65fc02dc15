import { describe, expect, test } from "vitest";
import { DRIVERS, ENCRYPTED_SQLITE } from "../support/engines.ts";
import { COMPLETED, FAILED, KEPT, LEASE_MS, retryAfter, useStore } from "../support/use-store.ts";

describe.each([...DRIVERS, ENCRYPTED_SQLITE])("keys on $name", (engine) => {
  const fixture = useStore(engine);

  describe("while a hook of the key is pending", () => {
    test("takes the latest payload, policy and trace, and counts the triggers", async () => {
      await fixture.insert({ id: "a", key: "k", payload: "1", retries: '{"limit":1}', trace: '"t1"' });
      const result = await fixture.insert({ id: "b", key: "k", payload: "2", retries: '{"limit":2}', trace: '"t2"' });

      expect(result).toEqual({ result: "collapsed", id: "a", at: fixture.clock.now() });
      expect(await fixture.ids()).toEqual(["a"]);
      expect(await fixture.claim()).toMatchObject([
        { id: "a", payload: "2", retries: '{"limit":2}', trace: '"t2"', triggers: 2, attempts: 1 },
      ]);
    });

    test("drops a policy that the latest trigger doesn't have", async () => {
      await fixture.insert({ key: "k", retries: '{"limit":1}', trace: '"t1"' });
      await fixture.insert({ key: "k" });

      expect(await fixture.claim()).toMatchObject([{ retries: null, trace: null }]);
    });

    test.each([
      ["earlier", 1000, 5000],
      ["later", 5000, 1000],
    ])("is due at the earliest time, when the second is %s", async (_, second, first) => {
      const now = fixture.clock.now();
      await fixture.insert({ id: "a", key: "k", processAt: now + first });
      await fixture.insert({ key: "k", processAt: now + second });

      expect((await fixture.get("a"))?.availableAt).toBe(now + 1000);
    });

    test("is due at once when the second trigger has no time", async () => {
      await fixture.insert({ id: "a", key: "k", processAt: fixture.clock.now() + 5000 });
      await fixture.insert({ key: "k" });

      expect((await fixture.get("a"))?.availableAt).toBe(fixture.clock.now());
    });

    test("starts a hook that waits for a retry with fresh attempts", async () => {
      await fixture.insert({ id: "a", key: "k" });
      await fixture.settle(await fixture.claimOne(), retryAfter(5000));
      await fixture.insert({ key: "k", payload: "2" });

      expect(await fixture.claim()).toMatchObject([{ id: "a", attempts: 1, payload: "2", triggers: 2 }]);
    });

    test("counts merged triggers by their number", async () => {
      await fixture.insert({ id: "a", key: "k", triggers: 3 });
      await fixture.insert({ key: "k", triggers: 4 });

      expect((await fixture.get("a"))?.triggers).toBe(7);
    });

    test("keeps the newer payload when an older trigger comes late", async () => {
      const now = fixture.clock.now();
      await fixture.insert({ id: "a", key: "k", payload: "2", triggeredAt: now });
      await fixture.insert({ key: "k", payload: "1", triggeredAt: now - 1000 });

      expect(await fixture.claim()).toMatchObject([{ id: "a", payload: "2", triggers: 2 }]);
    });

    test("counts a trigger once that is sent again", async () => {
      await fixture.insert({ id: "a", key: "k" });
      const second = fixture.trigger({ id: "b", key: "k" });
      await fixture.hooks.insert([second]);

      expect(await fixture.hooks.insert([second])).toMatchObject([{ result: "existing", id: "a" }]);
      expect((await fixture.get("a"))?.triggers).toBe(2);
    });

    test("counts the first trigger once when it is sent again after another", async () => {
      const first = fixture.trigger({ id: "a", key: "k", payload: "1" });
      await fixture.hooks.insert([first]);
      await fixture.insert({ id: "b", key: "k", payload: "2" });

      expect(await fixture.hooks.insert([first])).toMatchObject([{ result: "existing", id: "a" }]);
      expect(await fixture.get("a")).toMatchObject({ triggers: 2, payload: "2" });
    });
  });

  describe("while the hook of the key runs", () => {
    test("stores the trigger beside it, and runs it once more with fresh attempts", async () => {
      await fixture.insert({ id: "a", key: "k", payload: "1", retries: '{"limit":1}' });
      const running = await fixture.claimOne();
      const result = await fixture.insert({ id: "b", key: "k", payload: "2", retries: '{"limit":2}', trace: '"t2"' });

      expect(result).toMatchObject({ result: "collapsed", id: "a" });
      expect(await fixture.get("a")).toMatchObject({
        status: "processing",
        payload: "1",
        retries: '{"limit":1}',
        triggers: 1,
      });
      expect(await fixture.settle(running, COMPLETED)).toBe("pending");
      expect(await fixture.claim()).toMatchObject([
        { id: "a", payload: "2", retries: '{"limit":2}', trace: '"t2"', attempts: 1, recoveries: 0, triggers: 2 },
      ]);
    });

    test("runs once more for many triggers, with the latest payload", async () => {
      await fixture.insert({ id: "a", key: "k", payload: "1" });
      const running = await fixture.claimOne();
      await fixture.insert({ key: "k", payload: "2" });
      await fixture.insert({ key: "k", payload: "3", triggers: 2 });
      await fixture.settle(running, COMPLETED);
      const again = await fixture.claimOne();

      expect(again).toMatchObject({ id: "a", payload: "3", triggers: 4 });
      expect(await fixture.settle(again, COMPLETED)).toBe("deleted");
      expect(await fixture.ids()).toEqual([]);
    });

    test("runs once more at the earliest time that was asked for", async () => {
      const now = fixture.clock.now();
      await fixture.insert({ id: "a", key: "k" });
      const running = await fixture.claimOne();
      await fixture.insert({ key: "k", processAt: now + 9000 });
      await fixture.insert({ key: "k", processAt: now + 4000 });
      await fixture.insert({ key: "k", processAt: now + 6000 });
      await fixture.settle(running, COMPLETED);

      expect((await fixture.get("a"))?.availableAt).toBe(now + 4000);
    });

    test("is due when it is settled, if the asked time has passed by then", async () => {
      await fixture.insert({ id: "a", key: "k" });
      const running = await fixture.claimOne();
      await fixture.insert({ key: "k" });
      fixture.clock.advance(700);
      await fixture.settle(running, COMPLETED);

      expect((await fixture.get("a"))?.availableAt).toBe(fixture.clock.now());
    });

    test("keeps the newer payload when an older trigger comes late", async () => {
      const now = fixture.clock.now();
      await fixture.insert({ id: "a", key: "k", payload: "1", triggeredAt: now - 2000 });
      const running = await fixture.claimOne();
      await fixture.insert({ key: "k", payload: "3", triggeredAt: now });
      await fixture.insert({ key: "k", payload: "2", triggeredAt: now - 1000 });
      await fixture.settle(running, COMPLETED);

      expect(await fixture.claim()).toMatchObject([{ payload: "3", triggers: 3 }]);
    });

    test("runs once more with the payload that runs, when an older trigger comes late", async () => {
      const now = fixture.clock.now();
      await fixture.insert({ id: "a", key: "k", payload: "2", retries: '{"limit":2}', triggeredAt: now });
      const running = await fixture.claimOne();
      await fixture.insert({ key: "k", payload: "1", triggeredAt: now - 1000 });
      await fixture.settle(running, COMPLETED);

      expect(await fixture.claim()).toMatchObject([{ payload: "2", retries: '{"limit":2}', triggers: 2 }]);
    });

    test("counts a trigger once that is sent again", async () => {
      await fixture.insert({ id: "a", key: "k" });
      const running = await fixture.claimOne();
      const second = fixture.trigger({ id: "b", key: "k" });
      await fixture.hooks.insert([second]);
      expect(await fixture.hooks.insert([second])).toMatchObject([{ result: "existing", id: "a" }]);
      await fixture.settle(running, COMPLETED);

      expect((await fixture.get("a"))?.triggers).toBe(2);
    });

    test("keeps the trigger when the owner is lost", async () => {
      await fixture.insert({ id: "a", key: "k", payload: "1" });
      await fixture.claimOne();
      await fixture.insert({ key: "k", payload: "2" });
      fixture.clock.advance(LEASE_MS);
      const takenOver = await fixture.claimOne();

      expect(takenOver).toMatchObject({ payload: "1", inDoubt: true });
      expect(await fixture.settle(takenOver, COMPLETED)).toBe("pending");
      expect(await fixture.claim()).toMatchObject([{ payload: "2", attempts: 1, recoveries: 0 }]);
    });
  });

  describe("a finished hook doesn't hold its key:", () => {
    test.each([
      ["a dead letter", FAILED],
      ["a completed one that is kept", KEPT],
    ])("%s", async (_, outcome) => {
      await fixture.insert({ id: "a", key: "k" });
      await fixture.settle(await fixture.claimOne(), outcome);

      expect(await fixture.insert({ id: "b", key: "k" })).toMatchObject({ result: "inserted", id: "b" });
      expect(await fixture.claim()).toMatchObject([{ id: "b", triggers: 1, attempts: 1 }]);
      expect(await fixture.ids()).toEqual(["a", "b"]);
    });

    test("a completed one that is deleted", async () => {
      await fixture.insert({ id: "a", key: "k" });
      await fixture.settle(await fixture.claimOne(), COMPLETED);

      expect(await fixture.insert({ id: "b", key: "k" })).toMatchObject({ result: "inserted", id: "b" });
    });
  });

  test("belong to one name in one namespace", async () => {
    await fixture.insert({ key: "k" });

    expect(await fixture.insert({ key: "k", name: "wave" })).toMatchObject({ result: "inserted" });
    expect(await fixture.insert({ key: "k", namespace: `${fixture.namespace}-other` })).toMatchObject({
      result: "inserted",
    });
    expect(await fixture.insert({ key: "K" })).toMatchObject({ result: "inserted" });
  });

  test("go together with triggers without keys in one batch", async () => {
    await fixture.insert({ id: "held", key: "k" });

    const results = await fixture.hooks.insert([
      fixture.trigger({ id: "a" }),
      fixture.trigger({ id: "b", key: "k" }),
      fixture.trigger({ id: "c", key: "l" }),
    ]);

    expect(results).toMatchObject([
      { result: "inserted", id: "a" },
      { result: "collapsed", id: "held" },
      { result: "inserted", id: "c" },
    ]);
  });
});

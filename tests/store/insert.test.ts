import { describe, expect, it } from "vitest";
import { StoreError } from "../../src/errors.ts";
import { WorkClass } from "../../src/store/work-class.ts";
import { ENGINES } from "../support/engines.ts";
import { LEASE_MS, useStore } from "../support/use-store.ts";

describe.each(ENGINES)("inserting hooks on $name", (engine) => {
  const test = useStore(engine);

  it("stores a trigger that is due at once", async () => {
    const now = test.clock.now();
    const result = await test.insert({ id: "a", payload: '{"to":"Ada"}', retries: '{"limit":3}' });

    expect(result).toEqual({ result: "inserted", id: "a", at: now });
    expect(await test.get("a")).toEqual({
      namespace: test.namespace,
      id: "a",
      name: "greet",
      key: null,
      status: "pending",
      class: WorkClass.fresh,
      attempts: 0,
      recoveries: 0,
      triggers: 1,
      payload: '{"to":"Ada"}',
      retries: '{"limit":3}',
      error: null,
      createdAt: now,
      lastAttemptAt: null,
      availableAt: now,
      finishedAt: null,
    });
  });

  it("keeps the time of a trigger for later, and takes one in the past as due now", async () => {
    const now = test.clock.now();
    await test.insert({ id: "later", processAt: now + 5000 });
    await test.insert({ id: "past", processAt: now - 5000 });

    expect((await test.get("later"))?.availableAt).toBe(now + 5000);
    expect((await test.get("past"))?.availableAt).toBe(now);
  });

  it("leaves a hook alone whose id exists, whatever is sent with it", async () => {
    await test.insert({ id: "a", payload: "1" });

    expect(await test.insert({ id: "a", payload: "2" })).toMatchObject({ result: "existing", id: "a" });
    expect((await test.get("a"))?.payload).toBe("1");
  });

  it("tells which of several are new and which exist", async () => {
    await test.insert({ id: "b" });

    const results = await test.hooks.insert(["a", "b", "c"].map((id) => test.trigger({ id })));

    expect(results.map(({ result }) => result)).toEqual(["inserted", "existing", "inserted"]);
  });

  it("stores one of two with the same id in one batch", async () => {
    const results = await test.hooks.insert([
      test.trigger({ id: "a", payload: "1" }),
      test.trigger({ id: "a", payload: "2" }),
    ]);

    expect(results.map(({ result }) => result)).toEqual(["inserted", "existing"]);
    expect((await test.get("a"))?.payload).toBe("1");
  });

  it("keeps ids of different namespaces apart", async () => {
    await test.insert({ id: "a" });

    expect(await test.insert({ id: "a", namespace: `${test.namespace}-other` })).toMatchObject({ result: "inserted" });
  });

  it("stores all of a batch or nothing", async () => {
    const batch = [test.trigger(), test.trigger({ payload: "{broken" }), test.trigger()];

    const error: unknown = await test.hooks.insert(batch).catch((thrown: unknown) => thrown);

    expect(error).toBeInstanceOf(StoreError);
    expect(error).toMatchObject({ code: "store.rejected", transient: false });
    expect(await test.ids()).toEqual([]);
  });

  it("stores all of a batch with keys or nothing", async () => {
    const batch = [test.trigger({ key: "k" }), test.trigger({ payload: "{broken" }), test.trigger({ key: "l" })];

    await expect(test.hooks.insert(batch)).rejects.toMatchObject({ code: "store.rejected", transient: false });
    expect(await test.ids()).toEqual([]);
  });

  it("does nothing with nothing", async () => {
    expect(await test.hooks.insert([])).toEqual([]);
  });

  describe("born claimed", () => {
    const lease = { lock: "mine", leaseMs: LEASE_MS };

    it("counts the first attempt and is nobody else's until the lease is over", async () => {
      const now = test.clock.now();
      await test.insert({ id: "a", lease });

      expect(await test.get("a")).toMatchObject({
        status: "processing",
        class: WorkClass.leased,
        attempts: 1,
        lastAttemptAt: now,
        availableAt: now + LEASE_MS,
      });
      expect(await test.claim()).toEqual([]);
      test.clock.advance(LEASE_MS);
      expect(await test.claim()).toMatchObject([{ id: "a", attempts: 1, unconfirmed: true }]);
    });

    it("is still ours when it is sent again", async () => {
      const trigger = test.trigger({ id: "a", lease });
      await test.hooks.insert([trigger]);

      expect(await test.hooks.insert([trigger])).toMatchObject([{ result: "inserted", id: "a" }]);
      expect(await test.get("a")).toMatchObject({ status: "processing", attempts: 1 });
    });

    it("is still ours when it is sent again among triggers with keys", async () => {
      const batch = [test.trigger({ id: "a", lease }), test.trigger({ id: "b", key: "k" })];
      await test.hooks.insert(batch);

      expect(await test.hooks.insert(batch)).toMatchObject([
        { result: "inserted", id: "a" },
        { result: "existing", id: "b" },
      ]);
    });

    it("isn't ours when somebody else made it first", async () => {
      await test.insert({ id: "a", lease });

      expect(await test.insert({ id: "a", lease: { lock: "other", leaseMs: LEASE_MS } })).toMatchObject({
        result: "existing",
      });
      expect(await test.hooks.renew([{ namespace: test.namespace, id: "a", lock: "mine" }], LEASE_MS)).toHaveLength(1);
    });

    it("tells the time at which it was inserted when it is sent again", async () => {
      const trigger = test.trigger({ id: "a", lease });
      const [first] = await test.hooks.insert([trigger]);
      test.clock.advance(100);

      expect(await test.hooks.insert([trigger])).toEqual([first]);
    });
  });
});

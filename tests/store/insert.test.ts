import { describe, expect, test } from "vitest";
import { StoreError } from "../../src/errors.ts";
import { WorkClass } from "../../src/store/queue/work-class.ts";
import { DRIVERS } from "../support/engines.ts";
import { LEASE_MS, useStore } from "../support/use-store.ts";

describe.each(DRIVERS)("inserting hooks on $name", (engine) => {
  const fixture = useStore(engine);

  test("stores a trigger that is due at once", async () => {
    const now = fixture.clock.now();
    const result = await fixture.insert({ id: "a", payload: '{"to":"Ada"}', retries: '{"limit":3}' });

    expect(result).toEqual({ result: "inserted", id: "a", at: now });
    expect(await fixture.get("a")).toEqual({
      namespace: fixture.namespace,
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
      lineKey: null,
      rateKey: null,
      createdAt: now,
      lock: null,
      lastAttemptAt: null,
      availableAt: now,
      finishedAt: null,
    });
  });

  test("keeps the time of a trigger for later, and takes one in the past as due now", async () => {
    const now = fixture.clock.now();
    await fixture.insert({ id: "later", processAt: now + 5000 });
    await fixture.insert({ id: "past", processAt: now - 5000 });

    expect((await fixture.get("later"))?.availableAt).toBe(now + 5000);
    expect((await fixture.get("past"))?.availableAt).toBe(now);
  });

  test("leaves a hook alone whose id exists, whatever is sent with it", async () => {
    await fixture.insert({ id: "a", payload: "1" });

    expect(await fixture.insert({ id: "a", payload: "2" })).toMatchObject({ result: "existing", id: "a" });
    expect((await fixture.get("a"))?.payload).toBe("1");
  });

  test("tells which of several are new and which exist", async () => {
    await fixture.insert({ id: "b" });

    const results = await fixture.hooks.insert(["a", "b", "c"].map((id) => fixture.trigger({ id })));

    expect(results.map(({ result }) => result)).toEqual(["inserted", "existing", "inserted"]);
  });

  test("stores one of two with the same id in one batch", async () => {
    const results = await fixture.hooks.insert([
      fixture.trigger({ id: "a", payload: "1" }),
      fixture.trigger({ id: "a", payload: "2" }),
    ]);

    expect(results.map(({ result }) => result)).toEqual(["inserted", "existing"]);
    expect((await fixture.get("a"))?.payload).toBe("1");
  });

  test("keeps ids of different namespaces apart", async () => {
    await fixture.insert({ id: "a" });

    expect(await fixture.insert({ id: "a", namespace: `${fixture.namespace}-other` })).toMatchObject({
      result: "inserted",
    });
  });

  test("stores all of a batch or nothing", async () => {
    const batch = [fixture.trigger(), fixture.trigger({ payload: "{broken" }), fixture.trigger()];

    const error: unknown = await fixture.hooks.insert(batch).catch((thrown: unknown) => thrown);

    expect(error).toBeInstanceOf(StoreError);
    expect(error).toMatchObject({ code: "store.rejected", transient: false });
    expect(await fixture.ids()).toEqual([]);
  });

  test("stores all of a batch with keys or nothing", async () => {
    const batch = [
      fixture.trigger({ key: "k" }),
      fixture.trigger({ payload: "{broken" }),
      fixture.trigger({ key: "l" }),
    ];

    await expect(fixture.hooks.insert(batch)).rejects.toMatchObject({ code: "store.rejected", transient: false });
    expect(await fixture.ids()).toEqual([]);
  });

  test("does nothing with nothing", async () => {
    expect(await fixture.hooks.insert([])).toEqual([]);
  });

  describe("born claimed", () => {
    const lease = { lock: "mine", leaseMs: LEASE_MS };

    test("counts the first attempt, and no other worker can claim it until the lease ends", async () => {
      const now = fixture.clock.now();
      await fixture.insert({ id: "a", lease });

      expect(await fixture.get("a")).toMatchObject({
        status: "processing",
        class: WorkClass.leased,
        attempts: 1,
        lastAttemptAt: now,
        availableAt: now + LEASE_MS,
      });
      expect(await fixture.claim()).toEqual([]);
      fixture.clock.advance(LEASE_MS);
      expect(await fixture.claim()).toMatchObject([{ id: "a", attempts: 1, inDoubt: true }]);
    });

    test("is still ours when it is sent again", async () => {
      const trigger = fixture.trigger({ id: "a", lease });
      await fixture.hooks.insert([trigger]);

      expect(await fixture.hooks.insert([trigger])).toMatchObject([{ result: "inserted", id: "a" }]);
      expect(await fixture.get("a")).toMatchObject({ status: "processing", attempts: 1 });
    });

    test("is still ours when it is sent again among triggers with keys", async () => {
      const batch = [fixture.trigger({ id: "a", lease }), fixture.trigger({ id: "b", key: "k" })];
      await fixture.hooks.insert(batch);

      expect(await fixture.hooks.insert(batch)).toMatchObject([
        { result: "inserted", id: "a" },
        { result: "existing", id: "b" },
      ]);
    });

    test("belongs to the worker that inserted it first", async () => {
      await fixture.insert({ id: "a", lease });

      expect(await fixture.insert({ id: "a", lease: { lock: "other", leaseMs: LEASE_MS } })).toMatchObject({
        result: "existing",
      });
      expect(
        await fixture.hooks.renew([{ namespace: fixture.namespace, id: "a", lock: "mine" }], LEASE_MS),
      ).toHaveLength(1);
    });

    test("tells the time at which it was inserted when it is sent again", async () => {
      const trigger = fixture.trigger({ id: "a", lease });
      const [first] = await fixture.hooks.insert([trigger]);
      fixture.clock.advance(100);

      expect(await fixture.hooks.insert([trigger])).toEqual([first]);
    });
  });
});

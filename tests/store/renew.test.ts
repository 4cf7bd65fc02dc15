import { describe, expect, it } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { COMPLETED, LEASE_MS, RELEASED, useStore } from "../support/use-store.ts";

describe.each(ENGINES)("renewing leases on $name", (engine) => {
  const test = useStore(engine);

  it("extends a lease from now on", async () => {
    await test.insert({ id: "a" });
    const hook = await test.claimOne({ leaseMs: 1000 });
    test.clock.advance(600);

    const { namespace, id, lock } = hook;
    expect(await test.hooks.renew([hook], 1000)).toMatchObject([{ namespace, id, lock }]);
    test.clock.advance(999);
    expect(await test.claim()).toEqual([]);
    test.clock.advance(1);
    expect(await test.claim()).toHaveLength(1);
  });

  it("extends a lease that has run out, while nobody has taken it over", async () => {
    await test.insert({ id: "a" });
    const hook = await test.claimOne({ leaseMs: 1000 });
    test.clock.advance(5000);

    expect(await test.hooks.renew([hook], 1000)).toHaveLength(1);
    expect(await test.claim()).toEqual([]);
  });

  it("gives only the leases that are still held", async () => {
    await test.insertMany(3);
    const [kept, completed, takenOver] = await test.claim();
    if (!kept || !completed || !takenOver) throw new Error("Expected three hooks.");
    await test.settle(completed, COMPLETED);
    await test.hooks.renew([kept], LEASE_MS * 2);
    test.clock.advance(LEASE_MS);
    const owner = await test.claimOne();
    expect(owner.id).toBe(takenOver.id);

    const renewed = await test.hooks.renew([kept, completed, takenOver], LEASE_MS);

    expect(renewed.map(({ id }) => id)).toEqual([kept.id]);
    expect((await test.get(takenOver.id))?.availableAt).toBe(owner.claimedAt + LEASE_MS);
  });

  it("doesn't set back a row that was given up", async () => {
    await test.insert({ id: "a" });
    const hook = await test.claimOne();
    await test.settle(hook, RELEASED);

    expect(await test.hooks.renew([hook], LEASE_MS)).toEqual([]);
    expect(await test.get("a")).toMatchObject({ status: "pending", availableAt: test.clock.now() });
  });

  it("asks for the namespace too", async () => {
    await test.insert({ id: "a" });
    const hook = await test.claimOne();

    expect(await test.hooks.renew([{ ...hook, namespace: "elsewhere" }], LEASE_MS)).toEqual([]);
  });

  it("does nothing with nothing", async () => {
    expect(await test.hooks.renew([], LEASE_MS)).toEqual([]);
  });
});

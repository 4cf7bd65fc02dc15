import { describe, expect, test } from "vitest";
import { DRIVERS } from "../support/engines.ts";
import { COMPLETED, LEASE_MS, RELEASED, useStore } from "../support/use-store.ts";

describe.each(DRIVERS)("renewing leases on $name", (engine) => {
  const fixture = useStore(engine);

  test("extends a lease from now on", async () => {
    await fixture.insert({ id: "a" });
    const hook = await fixture.claimOne({ leaseMs: 1000 });
    fixture.clock.advance(600);

    const { namespace, id, lock } = hook;
    expect(await fixture.hooks.renew([hook], 1000)).toMatchObject([{ namespace, id, lock }]);
    fixture.clock.advance(999);
    expect(await fixture.claim()).toEqual([]);
    fixture.clock.advance(1);
    expect(await fixture.claim()).toHaveLength(1);
  });

  test("extends a lease that has ended, as long as no worker has taken it over", async () => {
    await fixture.insert({ id: "a" });
    const hook = await fixture.claimOne({ leaseMs: 1000 });
    fixture.clock.advance(5000);

    expect(await fixture.hooks.renew([hook], 1000)).toHaveLength(1);
    expect(await fixture.claim()).toEqual([]);
  });

  test("gives only the leases that are still held", async () => {
    await fixture.insertMany(3);
    const [kept, completed, takenOver] = await fixture.claim();
    if (!kept || !completed || !takenOver) throw new Error("Expected three hooks.");
    await fixture.settle(completed, COMPLETED);
    await fixture.hooks.renew([kept], LEASE_MS * 2);
    fixture.clock.advance(LEASE_MS);
    const owner = await fixture.claimOne();
    expect(owner.id).toBe(takenOver.id);

    const renewed = await fixture.hooks.renew([kept, completed, takenOver], LEASE_MS);

    expect(renewed.map(({ id }) => id)).toEqual([kept.id]);
    expect((await fixture.get(takenOver.id))?.availableAt).toBe(owner.claimedAt + LEASE_MS);
  });

  test("doesn't set back a row that was given up", async () => {
    await fixture.insert({ id: "a" });
    const hook = await fixture.claimOne();
    await fixture.settle(hook, RELEASED);

    expect(await fixture.hooks.renew([hook], LEASE_MS)).toEqual([]);
    expect(await fixture.get("a")).toMatchObject({ status: "pending", availableAt: fixture.clock.now() });
  });

  test("asks for the namespace too", async () => {
    await fixture.insert({ id: "a" });
    const hook = await fixture.claimOne();

    expect(await fixture.hooks.renew([{ ...hook, namespace: "elsewhere" }], LEASE_MS)).toEqual([]);
  });

  test("does nothing with nothing", async () => {
    expect(await fixture.hooks.renew([], LEASE_MS)).toEqual([]);
  });
});

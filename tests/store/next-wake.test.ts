import { describe, expect, test } from "vitest";
import { DRIVERS } from "../support/engines.ts";
import { FAILED, KEPT, LEASE_MS, retryAfter, useStore } from "../support/use-store.ts";

describe.each(DRIVERS)("the next wake on $name", (engine) => {
  const fixture = useStore(engine);

  test("is null when nothing waits", async () => {
    expect(await fixture.nextWake()).toBeNull();
  });

  test("is how long it takes until the earliest hook is due", async () => {
    await fixture.insert({ processAt: fixture.clock.now() + 8000 });
    await fixture.insert({ processAt: fixture.clock.now() + 5000 });

    expect(await fixture.nextWake()).toBe(5000);
    fixture.clock.advance(2000);
    expect(await fixture.nextWake()).toBe(3000);
  });

  test("is zero or less when something is due", async () => {
    await fixture.insert();
    expect(await fixture.nextWake()).toBe(0);
    fixture.clock.advance(40);
    expect(await fixture.nextWake()).toBe(-40);
  });

  test("is the end of the lease of what runs", async () => {
    await fixture.insert();
    await fixture.claimOne();

    expect(await fixture.nextWake()).toBe(LEASE_MS);
  });

  test("is the earliest of all classes", async () => {
    await fixture.insert();
    await fixture.claimOne();
    await fixture.insert();
    await fixture.settle(await fixture.claimOne(), retryAfter(7000));
    expect(await fixture.nextWake()).toBe(7000);
    await fixture.insert({ processAt: fixture.clock.now() + 6000 });
    expect(await fixture.nextWake()).toBe(6000);
    await fixture.insert({ lease: { lock: "mine", leaseMs: 5000 } });
    expect(await fixture.nextWake()).toBe(5000);
  });

  test("leaves out leases for a worker that can't take over", async () => {
    await fixture.insert();
    await fixture.claimOne();
    expect(await fixture.nextWake(["greet"], false)).toBeNull();
    await fixture.insert({ processAt: fixture.clock.now() + LEASE_MS * 2 });
    expect(await fixture.nextWake(["greet"], false)).toBe(LEASE_MS * 2);
  });

  test("leaves out names that this process doesn't know, so that they never make it spin", async () => {
    await fixture.insert({ name: "unknown" });
    expect(await fixture.nextWake()).toBeNull();
    await fixture.insert({ name: "wave", processAt: fixture.clock.now() + 500 });
    expect(await fixture.nextWake(["greet", "wave"])).toBe(500);
  });

  test("is the earliest of several namespaces, and of no others", async () => {
    const other = `${fixture.namespace}-other`;
    await fixture.insert({ processAt: fixture.clock.now() + 8000 });
    await fixture.insert({ processAt: fixture.clock.now() + 5000, namespace: other });
    await fixture.insert({ namespace: `${fixture.namespace}-third` });
    const scopes = [fixture.namespace, other].map((namespace) => ({ namespace, names: ["greet"] }));

    expect(await fixture.hooks.nextWake(scopes, { takeOver: true })).toBe(5000);
  });

  test("leaves out what is finished", async () => {
    await fixture.insertMany(2);
    const [first, second] = await fixture.claim();
    if (!first || !second) throw new Error("Expected two hooks.");
    await fixture.settle(first, FAILED);
    await fixture.settle(second, KEPT);

    expect(await fixture.nextWake()).toBeNull();
  });

  test("is null where no name is registered", async () => {
    await fixture.insert();

    expect(await fixture.nextWake([])).toBeNull();
    expect(await fixture.hooks.nextWake([], { takeOver: true })).toBeNull();
  });

  test("agrees with the claim: when it says due, there is something to claim, and else nothing", async () => {
    await fixture.insert({ processAt: fixture.clock.now() + 3000 });
    for (const step of [1000, 1999, 1]) {
      fixture.clock.advance(step);
      const due = ((await fixture.nextWake()) as number) <= 0;
      expect(due).toBe(step === 1);
      expect(await fixture.claim()).toHaveLength(due ? 1 : 0);
    }
  });
});

import { describe, expect, it } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { FAILED, KEPT, LEASE_MS, retryAfter, useStore } from "../support/use-store.ts";

describe.each(ENGINES)("the next wake on $name", (engine) => {
  const test = useStore(engine);

  it("is null when nothing waits", async () => {
    expect(await test.nextWake()).toBeNull();
  });

  it("is how long it takes until the earliest hook is due", async () => {
    await test.insert({ processAt: test.clock.now() + 8000 });
    await test.insert({ processAt: test.clock.now() + 5000 });

    expect(await test.nextWake()).toBe(5000);
    test.clock.advance(2000);
    expect(await test.nextWake()).toBe(3000);
  });

  it("is zero or less when something is due", async () => {
    await test.insert();
    expect(await test.nextWake()).toBe(0);
    test.clock.advance(40);
    expect(await test.nextWake()).toBe(-40);
  });

  it("is the end of the lease of what runs", async () => {
    await test.insert();
    await test.claimOne();

    expect(await test.nextWake()).toBe(LEASE_MS);
  });

  it("is the earliest of all classes", async () => {
    await test.insert();
    await test.claimOne();
    await test.insert();
    await test.settle(await test.claimOne(), retryAfter(7000));
    expect(await test.nextWake()).toBe(7000);
    await test.insert({ processAt: test.clock.now() + 6000 });
    expect(await test.nextWake()).toBe(6000);
    await test.insert({ lease: { lock: "mine", leaseMs: 5000 } });
    expect(await test.nextWake()).toBe(5000);
  });

  it("leaves out leases for who can take over nothing", async () => {
    await test.insert();
    await test.claimOne();
    expect(await test.nextWake(["greet"], false)).toBeNull();
    await test.insert({ processAt: test.clock.now() + LEASE_MS * 2 });
    expect(await test.nextWake(["greet"], false)).toBe(LEASE_MS * 2);
  });

  it("leaves out names that this process doesn't know, so that they never make it spin", async () => {
    await test.insert({ name: "unknown" });
    expect(await test.nextWake()).toBeNull();
    await test.insert({ name: "wave", processAt: test.clock.now() + 500 });
    expect(await test.nextWake(["greet", "wave"])).toBe(500);
  });

  it("is the earliest of several namespaces, and of no others", async () => {
    const other = `${test.namespace}-other`;
    await test.insert({ processAt: test.clock.now() + 8000 });
    await test.insert({ processAt: test.clock.now() + 5000, namespace: other });
    await test.insert({ namespace: `${test.namespace}-third` });
    const scopes = [test.namespace, other].map((namespace) => ({ namespace, names: ["greet"] }));

    expect(await test.hooks.nextWake(scopes, { takeOver: true })).toBe(5000);
  });

  it("leaves out what is finished", async () => {
    await test.insertMany(2);
    const [first, second] = await test.claim();
    if (!first || !second) throw new Error("Expected two hooks.");
    await test.settle(first, FAILED);
    await test.settle(second, KEPT);

    expect(await test.nextWake()).toBeNull();
  });

  it("is null where no name is registered", async () => {
    await test.insert();

    expect(await test.nextWake([])).toBeNull();
    expect(await test.hooks.nextWake([], { takeOver: true })).toBeNull();
  });

  it("agrees with the claim: when it says due, there is something to claim, and else nothing", async () => {
    await test.insert({ processAt: test.clock.now() + 3000 });
    for (const step of [1000, 1999, 1]) {
      test.clock.advance(step);
      const due = ((await test.nextWake()) as number) <= 0;
      expect(due).toBe(step === 1);
      expect(await test.claim()).toHaveLength(due ? 1 : 0);
    }
  });
});

import { describe, expect, it } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { COMPLETED, FAILED, LEASE_MS, RELEASED, useStore } from "../support/use-store.ts";

describe.each(ENGINES)("leases of lost owners on $name", (engine) => {
  const test = useStore(engine);

  it("are known by their tokens, each once", async () => {
    await test.insertMany(5);
    await test.claim({ limit: 2, lock: "one" });
    await test.claim({ limit: 1, lock: "two" });
    const [failed, released] = await test.claim({ limit: 2, lock: "three" });
    if (!failed || !released) throw new Error("Expected two hooks.");
    await test.settle(failed, FAILED);
    await test.settle(released, RELEASED);

    expect((await test.hooks.leaseTokens([test.namespace])).sort()).toEqual(["one", "two"]);
  });

  it("are those of the namespaces asked for", async () => {
    const other = `${test.namespace}-other`;
    await test.insert({ lease: { lock: "one", leaseMs: LEASE_MS } });
    await test.insert({ lease: { lock: "two", leaseMs: LEASE_MS }, namespace: other });

    expect(await test.hooks.leaseTokens([other])).toEqual(["two"]);
    expect((await test.hooks.leaseTokens([other, test.namespace])).sort()).toEqual(["one", "two"]);
    expect(await test.hooks.leaseTokens([])).toEqual([]);
  });

  it("leave out a hook that was given back after a takeover", async () => {
    await test.insert();
    await test.claimOne();
    test.clock.advance(LEASE_MS);
    await test.settle(await test.claimOne(), RELEASED);

    expect(await test.hooks.leaseTokens([test.namespace])).toEqual([]);
  });

  it("can be ended early, so that others take over", async () => {
    const other = `${test.namespace}-other`;
    await test.insert({ id: "a", lease: { lock: "dead", leaseMs: LEASE_MS } });
    await test.insert({ id: "b", lease: { lock: "alive", leaseMs: LEASE_MS } });
    await test.insert({ id: "c", lease: { lock: "dead", leaseMs: LEASE_MS }, namespace: other });

    expect(await test.hooks.expireLeases([test.namespace], ["dead", "never seen"])).toBe(1);
    expect(await test.claim()).toMatchObject([{ id: "a", attempts: 1, unconfirmed: true }]);
    expect(await test.claim({ scopes: [{ namespace: other, names: ["greet"] }] })).toEqual([]);
  });

  it("ends nothing for no tokens", async () => {
    await test.insert({ lease: { lock: "dead", leaseMs: LEASE_MS } });

    expect(await test.hooks.expireLeases([test.namespace], [])).toBe(0);
  });

  it("can still be settled by their owner while nobody has taken them over", async () => {
    await test.insert({ id: "a" });
    const hook = await test.claimOne();
    await test.hooks.expireLeases([test.namespace], [hook.lock]);

    expect(await test.settle(hook, COMPLETED)).toBe("deleted");
  });

  it("are found by the tokens of their owners", async () => {
    const [mine] = await test.insertMany(3, { lease: { lock: "mine", leaseMs: 1000 } });
    await test.insert({ lease: { lock: "another", leaseMs: 1000 } });
    const done = { namespace: test.namespace, id: mine as string, lock: "mine", keyed: false, outcome: COMPLETED };
    await test.hooks.settle([done]);

    const found = await test.hooks.findLeased([test.namespace], ["mine", "unknown"]);
    expect(found.map(({ id, lock }) => [id, lock]).sort()).toEqual([
      ["hook-0002", "mine"],
      ["hook-0003", "mine"],
    ]);
    expect(await test.hooks.findLeased([`${test.namespace}-other`], ["mine"])).toEqual([]);
    expect(await test.hooks.findLeased([test.namespace], [])).toEqual([]);
  });
});

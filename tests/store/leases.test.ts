import { describe, expect, test } from "vitest";
import { DRIVERS } from "../support/engines.ts";
import { COMPLETED, FAILED, LEASE_MS, RELEASED, useStore } from "../support/use-store.ts";

describe.each(DRIVERS)("leases of lost owners on $name", (engine) => {
  const fixture = useStore(engine);

  test("are known by their tokens, each once", async () => {
    await fixture.insertMany(5);
    await fixture.claim({ limit: 2, lock: "one" });
    await fixture.claim({ limit: 1, lock: "two" });
    const [failed, released] = await fixture.claim({ limit: 2, lock: "three" });
    if (!failed || !released) throw new Error("Expected two hooks.");
    await fixture.settle(failed, FAILED);
    await fixture.settle(released, RELEASED);

    expect((await fixture.hooks.leaseTokens([fixture.namespace])).sort()).toEqual(["one", "two"]);
  });

  test("are those of the namespaces asked for", async () => {
    const other = `${fixture.namespace}-other`;
    await fixture.insert({ lease: { lock: "one", leaseMs: LEASE_MS } });
    await fixture.insert({ lease: { lock: "two", leaseMs: LEASE_MS }, namespace: other });

    expect(await fixture.hooks.leaseTokens([other])).toEqual(["two"]);
    expect((await fixture.hooks.leaseTokens([other, fixture.namespace])).sort()).toEqual(["one", "two"]);
    expect(await fixture.hooks.leaseTokens([])).toEqual([]);
  });

  test("leave out a hook that was given back after a takeover", async () => {
    await fixture.insert();
    await fixture.claimOne();
    fixture.clock.advance(LEASE_MS);
    await fixture.settle(await fixture.claimOne(), RELEASED);

    expect(await fixture.hooks.leaseTokens([fixture.namespace])).toEqual([]);
  });

  test("can be ended early, so that others take over", async () => {
    const other = `${fixture.namespace}-other`;
    await fixture.insert({ id: "a", lease: { lock: "dead", leaseMs: LEASE_MS } });
    await fixture.insert({ id: "b", lease: { lock: "alive", leaseMs: LEASE_MS } });
    await fixture.insert({ id: "c", lease: { lock: "dead", leaseMs: LEASE_MS }, namespace: other });

    expect(await fixture.hooks.expireLeases([fixture.namespace], ["dead", "never seen"])).toBe(1);
    expect(await fixture.claim()).toMatchObject([{ id: "a", attempts: 1, inDoubt: true }]);
    expect(await fixture.claim({ scopes: [{ namespace: other, names: ["greet"] }] })).toEqual([]);
  });

  test("ends nothing for no tokens", async () => {
    await fixture.insert({ lease: { lock: "dead", leaseMs: LEASE_MS } });

    expect(await fixture.hooks.expireLeases([fixture.namespace], [])).toBe(0);
  });

  test("can still be settled by their owner as long as no worker has taken them over", async () => {
    await fixture.insert({ id: "a" });
    const hook = await fixture.claimOne();
    await fixture.hooks.expireLeases([fixture.namespace], [hook.lock]);

    expect(await fixture.settle(hook, COMPLETED)).toBe("deleted");
  });

  test("are found by the tokens of their owners", async () => {
    const [mine] = await fixture.insertMany(3, { lease: { lock: "mine", leaseMs: 1000 } });
    await fixture.insert({ lease: { lock: "another", leaseMs: 1000 } });
    const done = { namespace: fixture.namespace, id: mine as string, lock: "mine", keyed: false, outcome: COMPLETED };
    await fixture.hooks.settle([done]);

    const found = await fixture.hooks.findLeased([fixture.namespace], ["mine", "unknown"]);
    expect(found.map(({ id, lock }) => [id, lock]).sort()).toEqual([
      ["hook-0002", "mine"],
      ["hook-0003", "mine"],
    ]);
    expect(await fixture.hooks.findLeased([`${fixture.namespace}-other`], ["mine"])).toEqual([]);
    expect(await fixture.hooks.findLeased([fixture.namespace], [])).toEqual([]);
  });
});

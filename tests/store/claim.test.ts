import { describe, expect, it } from "vitest";
import { WorkClass } from "../../src/store/work-class.ts";
import { ENGINES } from "../support/engines.ts";
import { FAILED, KEPT, LEASE_MS, RELEASED, retryAfter, useStore } from "../support/use-store.ts";

describe.each(ENGINES)("claiming hooks on $name", (engine) => {
  const test = useStore(engine);
  const idsOf = (hooks: readonly { id: string }[]) => hooks.map(({ id }) => id);

  it("gives everything that a run needs, and leases it", async () => {
    await test.insert({ id: "a", key: "k", ownId: true, payload: '{"n":1}', retries: '{"limit":3}', trace: '"t"' });
    const created = test.clock.now();
    test.clock.advance(50);
    const now = test.clock.now();

    expect(await test.claim({ lock: "mine" })).toEqual([
      {
        namespace: test.namespace,
        id: "a",
        lock: "mine",
        name: "greet",
        key: "k",
        ownId: true,
        attempts: 1,
        recoveries: 0,
        unconfirmed: false,
        triggers: 1,
        payload: '{"n":1}',
        retries: '{"limit":3}',
        trace: '"t"',
        createdAt: created,
        lastAttemptAt: null,
        dueAt: created,
        claimedAt: now,
      },
    ]);
    expect(await test.get("a")).toMatchObject({
      status: "processing",
      class: WorkClass.leased,
      attempts: 1,
      lastAttemptAt: now,
      availableAt: now + LEASE_MS,
    });
  });

  it("gives a hook to one claimer only", async () => {
    await test.insertMany(3);

    expect(await test.claim()).toHaveLength(3);
    expect(await test.claim()).toEqual([]);
  });

  it("never gives more than the limit", async () => {
    const ids = await test.insertMany(5);

    expect(idsOf(await test.claim({ limit: 2 }))).toEqual(ids.slice(0, 2));
    expect(idsOf(await test.claim({ limit: 2 }))).toEqual(ids.slice(2, 4));
    expect(idsOf(await test.claim({ limit: 2 }))).toEqual(ids.slice(4));
  });

  it("never gives more than the limit from several namespaces and classes", async () => {
    const other = `${test.namespace}-other`;
    await test.insertMany(4);
    for (const hook of await test.claim()) await test.settle(hook, RELEASED);
    await test.insertMany(4);
    await test.insertMany(4, { namespace: other });
    const scopes = [test.namespace, other].map((namespace) => ({ namespace, names: ["greet"] }));

    expect(await test.claim({ scopes, limit: 5 })).toHaveLength(5);
    expect(await test.claim({ scopes, limit: 100 })).toHaveLength(7);
  });

  it.each([0, -1])("gives nothing for a limit of %i", async (limit) => {
    await test.insert();

    expect(await test.claim({ limit })).toEqual([]);
    expect(await test.claim()).toHaveLength(1);
  });

  it("leaves alone what isn't due", async () => {
    await test.insert({ id: "a", processAt: test.clock.now() + 1000 });

    test.clock.advance(999);
    expect(await test.claim()).toEqual([]);
    expect(await test.get("a")).toMatchObject({ status: "pending", attempts: 0, lastAttemptAt: null });
    test.clock.advance(1);
    expect(await test.claim()).toMatchObject([{ id: "a", dueAt: test.clock.now() }]);
  });

  it("takes the oldest first, and of the same time the lowest id", async () => {
    const now = test.clock.now();
    for (const [id, delay] of [
      ["d", 30],
      ["c", 20],
      ["b", 20],
      ["a", 40],
    ] as const) {
      await test.insert({ id, processAt: now + delay });
    }
    test.clock.advance(100);

    expect(idsOf(await test.claim({ limit: 2 }))).toEqual(["b", "c"]);
    expect(idsOf(await test.claim())).toEqual(["d", "a"]);
  });

  it("takes what was lost first, then what continues, then what is fresh", async () => {
    await test.insert({ id: "lost" });
    await test.claimOne({ leaseMs: 1000 });
    await test.insert({ id: "retried" });
    await test.settle(await test.claimOne(), retryAfter(2000));
    await test.insert({ id: "fresh" });
    test.clock.advance(3000);

    const claimed = await test.claim();
    expect(idsOf(claimed)).toEqual(["lost", "retried", "fresh"]);
  });

  it("takes continuing hooks before older fresh ones when there isn't room for all", async () => {
    await test.insert({ id: "retried" });
    await test.settle(await test.claimOne(), retryAfter(2000));
    await test.insertMany(3);
    test.clock.advance(2000);

    expect(idsOf(await test.claim({ limit: 1 }))).toEqual(["retried"]);
  });

  it("takes over at most one hook at a time, the one that was lost first", async () => {
    await test.insert({ id: "a" });
    await test.insert({ id: "b" });
    await test.claimOne({ limit: 1, leaseMs: 2000 });
    await test.claimOne({ limit: 1, leaseMs: 1000 });
    await test.insert({ id: "c" });
    test.clock.advance(2000);

    expect(idsOf(await test.claim())).toEqual(["b", "c"]);
    expect(idsOf(await test.claim())).toEqual(["a"]);
  });

  it("takes over together what was lost with its first owner, as much as is asked for", async () => {
    await test.insertMany(5, { lease: { lock: "gone", leaseMs: 1000 } });
    await test.insertMany(2);
    test.clock.advance(1000);

    const claimed = await test.claim({ mostLost: 3, limit: 4 });
    expect(claimed.map(({ unconfirmed }) => unconfirmed)).toEqual([true, true, true, false]);
    expect(await test.claim({ mostLost: 9, takeOver: false })).toHaveLength(1);
    expect(await test.claim({ mostLost: 1 })).toHaveLength(1);
    expect(await test.claim({ mostLost: 9, limit: 9 })).toHaveLength(1);
  });

  it("takes over what was lost again by itself, when nothing else is left to take over", async () => {
    const [first, second] = await test.insertMany(3, { lease: { lock: "gone", leaseMs: 1000 } });
    test.clock.advance(1000);
    const claimed = await test.claim({ mostLost: 2, leaseMs: 1000 });
    await test.hooks.count(claimed.map((hook) => ({ ...hook, recoveries: 1, begins: true })));
    test.clock.advance(1000);

    expect(idsOf(await test.claim({ mostLost: 9 }))).toEqual(["hook-0003"]);
    expect(idsOf(await test.claim({ mostLost: 9 }))).toEqual([first]);
    expect(idsOf(await test.claim({ mostLost: 9 }))).toEqual([second]);
  });

  it("counts what it takes over against the limit", async () => {
    await test.insert({ id: "lost", lease: { lock: "gone", leaseMs: 1000 } });
    await test.insertMany(5);
    test.clock.advance(1000);

    const claimed = await test.claim({ limit: 3 });
    expect(claimed).toHaveLength(3);
    expect(claimed[0]?.id).toBe("lost");
    expect(await test.claim({ limit: 1 })).toHaveLength(1);
  });

  it("takes over at most one hook of all namespaces", async () => {
    const namespaces = [test.namespace, `${test.namespace}-other`];
    const scopes = namespaces.map((namespace) => ({ namespace, names: ["greet"] }));
    for (const namespace of namespaces) await test.insert({ namespace, lease: { lock: "gone", leaseMs: 1000 } });
    test.clock.advance(1000);

    expect(await test.claim({ scopes })).toHaveLength(1);
    expect(await test.claim({ scopes })).toHaveLength(1);
    expect(await test.claim({ scopes })).toEqual([]);
  });

  it("counts an attempt and a recovery for every owner in a row that is lost after it began", async () => {
    await test.insert({ id: "a" });
    for (const recoveries of [0, 1, 2, 3]) {
      const hook = await test.claimOne({ leaseMs: 1000 });
      expect(hook).toMatchObject({ id: "a", recoveries, attempts: recoveries + 1 });
      expect(await test.hooks.count([{ ...hook, begins: true }])).toEqual([true]);
      test.clock.advance(1000);
    }
  });

  it("counts no owner that is lost before it has written that it begins, and tells so", async () => {
    await test.insert({ id: "a" });
    const claim = () => test.claimOne({ leaseMs: 1000 });
    expect(await claim()).toMatchObject({ attempts: 1, recoveries: 0, unconfirmed: false });
    test.clock.advance(1000);
    for (let losses = 0; losses < 3; losses++) {
      expect(await claim()).toMatchObject({ attempts: 1, recoveries: 0, unconfirmed: true });
      test.clock.advance(1000);
    }
    const hook = await claim();
    await test.hooks.count([{ ...hook, begins: true }]);
    test.clock.advance(1000);

    expect(await claim()).toMatchObject({ attempts: 2, recoveries: 1, unconfirmed: false });
  });

  it("lets only its owner write how often a hook was tried", async () => {
    await test.insert({ id: "a" });
    const hook = await test.claimOne();
    const counts = [
      { ...hook, lock: "another", attempts: 7, recoveries: 3, begins: true },
      { ...hook, id: "unknown", attempts: 7, recoveries: 3, begins: true },
      { ...hook, attempts: 5, recoveries: 2, begins: true },
    ];

    expect(await test.hooks.count(counts)).toEqual([false, false, true]);
    expect(await test.get("a")).toMatchObject({ attempts: 5, recoveries: 2 });
  });

  it("tells when the attempt before began and when the lost lease ended", async () => {
    await test.insert({ id: "a" });
    const first = await test.claimOne({ leaseMs: 1000 });
    test.clock.advance(1500);

    expect(await test.claim()).toMatchObject([
      { lastAttemptAt: first.claimedAt, dueAt: first.claimedAt + 1000, claimedAt: first.claimedAt + 1500 },
    ]);
  });

  it("takes over nothing when that isn't wanted", async () => {
    await test.insert({ id: "a" });
    await test.claimOne({ leaseMs: 1000 });
    await test.insert({ id: "b" });
    test.clock.advance(1000);

    expect(idsOf(await test.claim({ takeOver: false }))).toEqual(["b"]);
  });

  it("gives only names that are registered", async () => {
    await test.insert({ id: "a", name: "wave" });
    await test.insert({ id: "b", name: "greet" });
    await test.insert({ id: "c", name: "bow" });

    const scopes = [{ namespace: test.namespace, names: ["bow", "greet"] }];
    expect(idsOf(await test.claim({ scopes }))).toEqual(["b", "c"]);
    expect(await test.get("a")).toMatchObject({ status: "pending", attempts: 0 });
  });

  it.each(["null", "NULL", "a.b:c-d", "{}", "a,b", 'a"b', "a\\b", "a b", "ünïcode"])(
    "knows a hook by a name such as %s",
    async (name) => {
      await test.insert({ id: "a", name });

      const scopes = [{ namespace: test.namespace, names: ["greet", name] }];
      expect(await test.hooks.nextWake(scopes, { takeOver: true })).toBe(0);
      expect(await test.claim({ scopes })).toMatchObject([{ id: "a", name }]);
    },
  );

  it("gives only namespaces that are asked for, each with its own names", async () => {
    const other = `${test.namespace}-other`;
    await test.insert({ id: "a", name: "greet" });
    await test.insert({ id: "b", name: "wave" });
    await test.insert({ id: "c", name: "greet", namespace: other });
    await test.insert({ id: "d", name: "wave", namespace: other });
    const scopes = [
      { namespace: test.namespace, names: ["greet"] },
      { namespace: other, names: ["wave"] },
    ];

    expect(idsOf(await test.claim({ scopes }))).toEqual(["a", "d"]);
  });

  it("gives nothing where no name is registered", async () => {
    await test.insert();

    expect(await test.claim({ scopes: [] })).toEqual([]);
    expect(await test.claim({ scopes: [{ namespace: test.namespace, names: [] }] })).toEqual([]);
  });

  it.each([
    ["dead letters", FAILED],
    ["completed hooks", KEPT],
  ])("leaves %s alone", async (_, outcome) => {
    await test.insert();
    await test.settle(await test.claimOne(), outcome);
    test.clock.advance(LEASE_MS * 10);

    expect(await test.claim()).toEqual([]);
  });
});

import { describe, expect, test } from "vitest";
import { WorkClass } from "../../src/store/queue/work-class.ts";
import { DRIVERS } from "../support/engines.ts";
import { FAILED, KEPT, LEASE_MS, RELEASED, retryAfter, useStore } from "../support/use-store.ts";

describe.each(DRIVERS)("claiming hooks on $name", (engine) => {
  const fixture = useStore(engine);
  const idsOf = (hooks: readonly { id: string }[]) => hooks.map(({ id }) => id);

  test("gives everything that a run needs, and leases it", async () => {
    await fixture.insert({ id: "a", key: "k", ownId: true, payload: '{"n":1}', retries: '{"limit":3}', trace: '"t"' });
    const created = fixture.clock.now();
    fixture.clock.advance(50);
    const now = fixture.clock.now();

    expect(await fixture.claim({ lock: "mine" })).toEqual([
      {
        namespace: fixture.namespace,
        id: "a",
        lock: "mine",
        name: "greet",
        key: "k",
        ownId: true,
        attempts: 1,
        recoveries: 0,
        inDoubt: false,
        triggers: 1,
        payload: '{"n":1}',
        retries: '{"limit":3}',
        trace: '"t"',
        createdAt: created,
        lastAttemptAt: null,
        dueAt: created,
        claimedAt: now,
        lineKey: null,
      },
    ]);
    expect(await fixture.get("a")).toMatchObject({
      status: "processing",
      class: WorkClass.leased,
      attempts: 1,
      lastAttemptAt: now,
      availableAt: now + LEASE_MS,
    });
  });

  test("gives a hook to one claimer only", async () => {
    await fixture.insertMany(3);

    expect(await fixture.claim()).toHaveLength(3);
    expect(await fixture.claim()).toEqual([]);
  });

  test("never gives more than the limit", async () => {
    const ids = await fixture.insertMany(5);

    expect(idsOf(await fixture.claim({ limit: 2 }))).toEqual(ids.slice(0, 2));
    expect(idsOf(await fixture.claim({ limit: 2 }))).toEqual(ids.slice(2, 4));
    expect(idsOf(await fixture.claim({ limit: 2 }))).toEqual(ids.slice(4));
  });

  test("never gives more than the limit from several namespaces and classes", async () => {
    const other = `${fixture.namespace}-other`;
    await fixture.insertMany(4);
    for (const hook of await fixture.claim()) await fixture.settle(hook, RELEASED);
    await fixture.insertMany(4);
    await fixture.insertMany(4, { namespace: other });
    const scopes = [fixture.namespace, other].map((namespace) => ({ namespace, names: ["greet"] }));

    expect(await fixture.claim({ scopes, limit: 5 })).toHaveLength(5);
    expect(await fixture.claim({ scopes, limit: 100 })).toHaveLength(7);
  });

  test.each([0, -1])("gives nothing for a limit of %i", async (limit) => {
    await fixture.insert();

    expect(await fixture.claim({ limit })).toEqual([]);
    expect(await fixture.claim()).toHaveLength(1);
  });

  test("leaves alone what isn't due", async () => {
    await fixture.insert({ id: "a", processAt: fixture.clock.now() + 1000 });

    fixture.clock.advance(999);
    expect(await fixture.claim()).toEqual([]);
    expect(await fixture.get("a")).toMatchObject({ status: "pending", attempts: 0, lastAttemptAt: null });
    fixture.clock.advance(1);
    expect(await fixture.claim()).toMatchObject([{ id: "a", dueAt: fixture.clock.now() }]);
  });

  test("takes the oldest first, and of the same time the lowest id", async () => {
    const now = fixture.clock.now();
    for (const [id, delay] of [
      ["d", 30],
      ["c", 20],
      ["b", 20],
      ["a", 40],
    ] as const) {
      await fixture.insert({ id, processAt: now + delay });
    }
    fixture.clock.advance(100);

    expect(idsOf(await fixture.claim({ limit: 2 }))).toEqual(["b", "c"]);
    expect(idsOf(await fixture.claim())).toEqual(["d", "a"]);
  });

  test("takes what was lost first, then what continues, then what is fresh", async () => {
    await fixture.insert({ id: "lost" });
    await fixture.claimOne({ leaseMs: 1000 });
    await fixture.insert({ id: "retried" });
    await fixture.settle(await fixture.claimOne(), retryAfter(2000));
    await fixture.insert({ id: "fresh" });
    fixture.clock.advance(3000);

    const claimed = await fixture.claim();
    expect(idsOf(claimed)).toEqual(["lost", "retried", "fresh"]);
  });

  test("takes continuing hooks before older fresh ones when there isn't room for all", async () => {
    await fixture.insert({ id: "retried" });
    await fixture.settle(await fixture.claimOne(), retryAfter(2000));
    await fixture.insertMany(3);
    fixture.clock.advance(2000);

    expect(idsOf(await fixture.claim({ limit: 1 }))).toEqual(["retried"]);
  });

  test("takes over at most one hook at a time, the one that was lost first", async () => {
    await fixture.insert({ id: "a" });
    await fixture.insert({ id: "b" });
    await fixture.claimOne({ limit: 1, leaseMs: 2000 });
    await fixture.claimOne({ limit: 1, leaseMs: 1000 });
    await fixture.insert({ id: "c" });
    fixture.clock.advance(2000);

    expect(idsOf(await fixture.claim())).toEqual(["b", "c"]);
    expect(idsOf(await fixture.claim())).toEqual(["a"]);
  });

  test("takes over together what was lost with its first owner, as much as is asked for", async () => {
    await fixture.insertMany(5, { lease: { lock: "gone", leaseMs: 1000 } });
    await fixture.insertMany(2);
    fixture.clock.advance(1000);

    const claimed = await fixture.claim({ mostLost: 3, limit: 4 });
    expect(claimed.map(({ inDoubt }) => inDoubt)).toEqual([true, true, true, false]);
    expect(await fixture.claim({ mostLost: 9, takeOver: false })).toHaveLength(1);
    expect(await fixture.claim({ mostLost: 1 })).toHaveLength(1);
    expect(await fixture.claim({ mostLost: 9, limit: 9 })).toHaveLength(1);
  });

  test("takes over what was lost again by itself, when nothing else is left to take over", async () => {
    const [first, second] = await fixture.insertMany(3, { lease: { lock: "gone", leaseMs: 1000 } });
    fixture.clock.advance(1000);
    const claimed = await fixture.claim({ mostLost: 2, leaseMs: 1000 });
    await fixture.hooks.count(claimed.map((hook) => ({ ...hook, recoveries: 1, begins: true })));
    fixture.clock.advance(1000);

    expect(idsOf(await fixture.claim({ mostLost: 9 }))).toEqual(["hook-0003"]);
    expect(idsOf(await fixture.claim({ mostLost: 9 }))).toEqual([first]);
    expect(idsOf(await fixture.claim({ mostLost: 9 }))).toEqual([second]);
  });

  test("counts what it takes over against the limit", async () => {
    await fixture.insert({ id: "lost", lease: { lock: "gone", leaseMs: 1000 } });
    await fixture.insertMany(5);
    fixture.clock.advance(1000);

    const claimed = await fixture.claim({ limit: 3 });
    expect(claimed).toHaveLength(3);
    expect(claimed[0]?.id).toBe("lost");
    expect(await fixture.claim({ limit: 1 })).toHaveLength(1);
  });

  test("takes over at most one hook of all namespaces", async () => {
    const namespaces = [fixture.namespace, `${fixture.namespace}-other`];
    const scopes = namespaces.map((namespace) => ({ namespace, names: ["greet"] }));
    for (const namespace of namespaces) await fixture.insert({ namespace, lease: { lock: "gone", leaseMs: 1000 } });
    fixture.clock.advance(1000);

    expect(await fixture.claim({ scopes })).toHaveLength(1);
    expect(await fixture.claim({ scopes })).toHaveLength(1);
    expect(await fixture.claim({ scopes })).toEqual([]);
  });

  test("counts an attempt and a recovery for every owner in a row that is lost after it began", async () => {
    await fixture.insert({ id: "a" });
    for (const recoveries of [0, 1, 2, 3]) {
      const hook = await fixture.claimOne({ leaseMs: 1000 });
      expect(hook).toMatchObject({ id: "a", recoveries, attempts: recoveries + 1 });
      expect(await fixture.hooks.count([{ ...hook, begins: true }])).toEqual([true]);
      fixture.clock.advance(1000);
    }
  });

  test("counts no owner that is lost before it has written that it begins, and tells so", async () => {
    await fixture.insert({ id: "a" });
    const claim = () => fixture.claimOne({ leaseMs: 1000 });
    expect(await claim()).toMatchObject({ attempts: 1, recoveries: 0, inDoubt: false });
    fixture.clock.advance(1000);
    for (let losses = 0; losses < 3; losses++) {
      expect(await claim()).toMatchObject({ attempts: 1, recoveries: 0, inDoubt: true });
      fixture.clock.advance(1000);
    }
    const hook = await claim();
    await fixture.hooks.count([{ ...hook, begins: true }]);
    fixture.clock.advance(1000);

    expect(await claim()).toMatchObject({ attempts: 2, recoveries: 1, inDoubt: false });
  });

  test("keeps in doubt whether a lost owner began when the next owner gives the hook back without knowing of its claim", async () => {
    await fixture.insert({ id: "a" });
    await fixture.claimOne({ leaseMs: 1000 });
    fixture.clock.advance(1000);
    for (let claims = 0; claims < 3; claims++) {
      const hook = await fixture.claimOne();
      expect(hook).toMatchObject({ attempts: 1, recoveries: 0, inDoubt: true });
      expect(await fixture.settle(hook, { kind: "released" })).toBe("pending");
    }
    const hook = await fixture.claimOne();
    await fixture.hooks.count([{ ...hook, attempts: 2, recoveries: 1, begins: false }]);
    await fixture.settle(hook, { kind: "released" });
    expect(await fixture.claimOne()).toMatchObject({ attempts: 2, recoveries: 1, inDoubt: false });
  });

  test("lets only its owner write how often a hook was tried", async () => {
    await fixture.insert({ id: "a" });
    const hook = await fixture.claimOne();
    const counts = [
      { ...hook, lock: "another", attempts: 7, recoveries: 3, begins: true },
      { ...hook, id: "unknown", attempts: 7, recoveries: 3, begins: true },
      { ...hook, attempts: 5, recoveries: 2, begins: true },
    ];

    expect(await fixture.hooks.count(counts)).toEqual([false, false, true]);
    expect(await fixture.get("a")).toMatchObject({ attempts: 5, recoveries: 2 });
  });

  test("tells when the attempt before began and when the lost lease ended", async () => {
    await fixture.insert({ id: "a" });
    const first = await fixture.claimOne({ leaseMs: 1000 });
    fixture.clock.advance(1500);

    expect(await fixture.claim()).toMatchObject([
      { lastAttemptAt: first.claimedAt, dueAt: first.claimedAt + 1000, claimedAt: first.claimedAt + 1500 },
    ]);
  });

  test("takes over nothing when that isn't wanted", async () => {
    await fixture.insert({ id: "a" });
    await fixture.claimOne({ leaseMs: 1000 });
    await fixture.insert({ id: "b" });
    fixture.clock.advance(1000);

    expect(idsOf(await fixture.claim({ takeOver: false }))).toEqual(["b"]);
  });

  test("gives only names that are registered", async () => {
    await fixture.insert({ id: "a", name: "wave" });
    await fixture.insert({ id: "b", name: "greet" });
    await fixture.insert({ id: "c", name: "bow" });

    const scopes = [{ namespace: fixture.namespace, names: ["bow", "greet"] }];
    expect(idsOf(await fixture.claim({ scopes }))).toEqual(["b", "c"]);
    expect(await fixture.get("a")).toMatchObject({ status: "pending", attempts: 0 });
  });

  test.each(["null", "NULL", "a.b:c-d", "{}", "a,b", 'a"b', "a\\b", "a b", "ünïcode"])(
    "knows a hook by a name such as %s",
    async (name) => {
      await fixture.insert({ id: "a", name });

      const scopes = [{ namespace: fixture.namespace, names: ["greet", name] }];
      expect(await fixture.hooks.nextWake(scopes, { takeOver: true })).toBe(0);
      expect(await fixture.claim({ scopes })).toMatchObject([{ id: "a", name }]);
    },
  );

  test("gives only namespaces that are asked for, each with its own names", async () => {
    const other = `${fixture.namespace}-other`;
    await fixture.insert({ id: "a", name: "greet" });
    await fixture.insert({ id: "b", name: "wave" });
    await fixture.insert({ id: "c", name: "greet", namespace: other });
    await fixture.insert({ id: "d", name: "wave", namespace: other });
    const scopes = [
      { namespace: fixture.namespace, names: ["greet"] },
      { namespace: other, names: ["wave"] },
    ];

    expect(idsOf(await fixture.claim({ scopes }))).toEqual(["a", "d"]);
  });

  test("gives nothing where no name is registered", async () => {
    await fixture.insert();

    expect(await fixture.claim({ scopes: [] })).toEqual([]);
    expect(await fixture.claim({ scopes: [{ namespace: fixture.namespace, names: [] }] })).toEqual([]);
  });

  test.each([
    ["dead letters", FAILED],
    ["completed hooks", KEPT],
  ])("leaves %s alone", async (_, outcome) => {
    await fixture.insert();
    await fixture.settle(await fixture.claimOne(), outcome);
    fixture.clock.advance(LEASE_MS * 10);

    expect(await fixture.claim()).toEqual([]);
  });
});

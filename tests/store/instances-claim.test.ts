import { describe, expect, it } from "vitest";
import type { ClaimedInstance } from "../../src/store/instance-records.ts";
import { ENGINES } from "../support/engines.ts";
import { COMPLETED, ERRORED, LEASE_MS, RELEASED, RUNNING, useInstances } from "../support/use-instances.ts";

describe.each(ENGINES)("claiming instances on $name", (engine) => {
  const test = useInstances(engine);
  const idsOf = (instances: readonly { id: string }[]) => instances.map(({ id }) => id);

  it("gives everything that a run needs, and leases it", async () => {
    const { ref } = await test.create({ id: "a", params: '{"n": 1}' });
    const created = test.now;
    test.clock.advance(50);

    expect(await test.claim({ lock: "mine" })).toEqual([
      {
        ...test.named("a"),
        ref,
        run: 1,
        lock: "mine",
        params: '{"n": 1}',
        createdAt: created,
        recoveries: 0,
        wakes: 0,
        paused: false,
        schedule: null,
        rollingBack: null,
        slotKey: null,
        begun: false,
        dueAt: created,
        claimedAt: test.now,
      },
    ]);
    expect(await test.find("a")).toMatchObject({
      status: "running",
      startedAt: test.now,
      availableAt: test.now + LEASE_MS,
    });
  });

  it("gives an instance to one claimer only", async () => {
    await test.createMany(3);

    expect(await test.claim()).toHaveLength(3);
    expect(await test.claim()).toEqual([]);
  });

  it("never gives more than the limit, from all namespaces and classes", async () => {
    const other = `${test.namespace}-other`;
    await test.createMany(4);
    for (const instance of await test.claim()) await test.commit(instance, RELEASED);
    await test.createMany(4);
    await test.createMany(4, { namespace: other });
    const scopes = [test.namespace, other].map((namespace) => ({ namespace, names: ["checkout"] }));

    expect(await test.claim({ scopes, limit: 5 })).toHaveLength(5);
    expect(await test.claim({ scopes, limit: 100 })).toHaveLength(7);
  });

  it.each([0, -1])("gives nothing for a limit of %i", async (limit) => {
    await test.create();

    expect(await test.claim({ limit })).toEqual([]);
    expect(await test.claim()).toHaveLength(1);
  });

  it("leaves alone what sleeps", async () => {
    await test.park(await test.start({ id: "a" }), { dueAt: test.now + 1000 });

    test.clock.advance(999);
    expect(await test.claim()).toEqual([]);
    test.clock.advance(1);
    expect(await test.claim()).toMatchObject([{ id: "a", begun: true, dueAt: test.now, recoveries: 0 }]);
  });

  it("remembers when a run was first claimed", async () => {
    await test.park(await test.start({ id: "a" }), { dueAt: test.now + 1000 });
    const started = test.now;
    test.clock.advance(1000);
    await test.claimOne();

    expect(await test.find("a")).toMatchObject({ startedAt: started });
  });

  it("takes the oldest first, and of the same time the one created first", async () => {
    const delays = { d: 30, c: 20, b: 20, a: 40 };
    for (const [id, delay] of Object.entries(delays)) {
      await test.park(await test.start({ id }), { dueAt: test.now + delay });
    }
    test.clock.advance(100);

    expect(idsOf(await test.claim({ limit: 2 }))).toEqual(["c", "b"]);
    expect(idsOf(await test.claim())).toEqual(["d", "a"]);
  });

  it("takes what was lost first, then what continues, then what is fresh", async () => {
    await test.create({ id: "fresh" });
    test.clock.advance(10);
    await test.create({ id: "lost", lease: { lock: "gone", leaseMs: 1000 } });
    const { ref } = await test.create({ id: "slept", lease: { lock: "parks", leaseMs: LEASE_MS } });
    await test.park({ ref, run: 1, lock: "parks", wakes: 0 }, { dueAt: test.now + 500 });
    test.clock.advance(3000);

    expect(idsOf(await test.claim())).toEqual(["lost", "slept", "fresh"]);
  });

  it("takes what continues before older fresh ones when there isn't room for all", async () => {
    await test.park(await test.start({ id: "slept" }), { dueAt: test.now + 2000 });
    await test.createMany(3);
    test.clock.advance(2000);

    expect(idsOf(await test.claim({ limit: 1 }))).toEqual(["slept"]);
  });

  it("takes over at most one instance of all namespaces at a time", async () => {
    const namespaces = [test.namespace, `${test.namespace}-other`];
    const scopes = namespaces.map((namespace) => ({ namespace, names: ["checkout"] }));
    for (const namespace of namespaces) await test.create({ namespace, lease: { lock: "gone", leaseMs: LEASE_MS } });
    test.clock.advance(LEASE_MS);

    expect(await test.claim({ scopes })).toMatchObject([{ recoveries: 1 }]);
    expect(await test.claim({ scopes })).toMatchObject([{ recoveries: 1 }]);
    expect(await test.claim({ scopes })).toEqual([]);
  });

  it("takes over together what was lost with its first owner, and what was lost again by itself", async () => {
    for (const id of ["a", "b", "c"]) await test.create({ id, lease: { lock: "gone", leaseMs: 1000 } });
    test.clock.advance(1000);
    expect(await test.claim({ mostLost: 2, leaseMs: 1000 })).toHaveLength(2);
    test.clock.advance(1000);

    expect(idsOf(await test.claim({ mostLost: 9 }))).toEqual(["c"]);
    expect(idsOf(await test.claim({ mostLost: 9 }))).toEqual(["a"]);
    expect(idsOf(await test.claim({ mostLost: 9 }))).toEqual(["b"]);
  });

  it("counts what it takes over against the limit", async () => {
    await test.create({ lease: { lock: "gone", leaseMs: LEASE_MS } });
    await test.createMany(5);
    test.clock.advance(LEASE_MS);

    const claimed = await test.claim({ limit: 3 });
    expect(claimed.map(({ recoveries }) => recoveries)).toEqual([1, 0, 0]);
  });

  it("takes over nothing when that isn't wanted", async () => {
    await test.create({ id: "a", lease: { lock: "gone", leaseMs: 1000 } });
    await test.create({ id: "b" });
    test.clock.advance(1000);

    expect(idsOf(await test.claim({ takeOver: false }))).toEqual(["b"]);
  });

  it("gives only the names of each namespace that are registered", async () => {
    const other = `${test.namespace}-other`;
    await test.create({ id: "a", name: "checkout" });
    await test.create({ id: "b", name: "refund" });
    await test.create({ id: "c", name: "checkout", namespace: other });
    await test.create({ id: "d", name: "refund", namespace: other });
    const scopes = [
      { namespace: test.namespace, names: ["checkout"] },
      { namespace: other, names: ["refund"] },
    ];

    expect(idsOf(await test.claim({ scopes }))).toEqual(["a", "d"]);
    expect(await test.claim({ scopes: [] })).toEqual([]);
    expect(await test.claim({ scopes: [{ namespace: test.namespace, names: [] }] })).toEqual([]);
  });

  it.each([
    ["completed", COMPLETED],
    ["errored", ERRORED],
  ])("leaves alone what is %s", async (_, outcome) => {
    await test.commit(await test.start(), outcome);
    test.clock.advance(LEASE_MS * 10);

    expect(await test.claim()).toEqual([]);
  });

  describe("tells whether there is anything to load:", () => {
    it("what was sent before the first claim", async () => {
      await test.create({ id: "a" });
      await test.send("a");

      expect(await test.claimOne()).toMatchObject({ begun: true, wakes: 1 });
    });

    it("what the first owner may have written", async () => {
      await test.commit(await test.start(), RELEASED);

      expect(await test.claimOne()).toMatchObject({ begun: true });
    });
  });

  describe("counts owners that were lost in a row:", () => {
    /** Claims it, lets its owner begin and write so many entries, and lets the lease run out. */
    async function lose(position: number, entries: number): Promise<ClaimedInstance> {
      const instance = await test.claimOne();
      expect(await test.statements.confirm([instance])).toEqual([true]);
      if (entries > 0) {
        const added = Array.from({ length: entries }, () => test.entry());
        expect(await test.commit(instance, RUNNING, { position, entries: added })).toMatchObject({ result: "written" });
      }
      test.clock.advance(LEASE_MS);
      return instance;
    }

    it("one more each time, while the journal doesn't grow", async () => {
      await test.create();

      for (const recoveries of [0, 1, 2, 3]) expect(await lose(1, 0)).toMatchObject({ recoveries });
    });

    it("the first, and further ones only if they have written that they begin", async () => {
      await test.create();
      const loseSilently = async () => {
        const instance = await test.claimOne();
        test.clock.advance(LEASE_MS);
        return instance;
      };

      for (const recoveries of [0, 1, 1, 1]) expect(await loseSilently()).toMatchObject({ recoveries });
      expect(await lose(1, 0)).toMatchObject({ recoveries: 1 });
      expect(await loseSilently()).toMatchObject({ recoveries: 2 });
    });

    it("from one on again, when the journal has grown", async () => {
      await test.create();

      expect(await lose(1, 0)).toMatchObject({ recoveries: 0 });
      expect(await lose(1, 0)).toMatchObject({ recoveries: 1 });
      expect(await lose(1, 2)).toMatchObject({ recoveries: 2 });
      expect(await lose(3, 0)).toMatchObject({ recoveries: 1 });
      expect(await lose(3, 1)).toMatchObject({ recoveries: 2 });
      expect(await lose(4, 0)).toMatchObject({ recoveries: 1 });
    });

    it("none any more, when one has parked it", async () => {
      await test.create();
      await lose(1, 0);
      await test.park(await test.claimOne(), { dueAt: test.now + 10 });
      test.clock.advance(10);

      expect(await lose(1, 0)).toMatchObject({ recoveries: 0 });
      expect(await lose(1, 0)).toMatchObject({ recoveries: 1 });
    });

    it("not the one that gave it back, and it is still taken over alone", async () => {
      await test.create({ id: "a" });
      await test.create({ id: "b", lease: { lock: "gone", leaseMs: LEASE_MS * 3 } });
      await lose(1, 0);
      const recovered = await test.claimOne();
      expect(recovered).toMatchObject({ id: "a", recoveries: 1 });
      await test.commit(recovered, RELEASED);
      test.clock.advance(LEASE_MS * 3);

      expect(await test.claim({ takeOver: false })).toEqual([]);
      expect(await test.claim()).toMatchObject([{ id: "b", recoveries: 1 }]);
      const again = await test.claimOne();
      expect(again).toMatchObject({ id: "a", recoveries: 1 });
      await test.statements.confirm([again]);
      test.clock.advance(LEASE_MS);
      expect(await test.claim()).toMatchObject([{ id: "a", recoveries: 2 }]);
    });

    it("each run for itself", async () => {
      await test.create({ id: "a" });
      await lose(1, 3);
      await lose(4, 0);
      await test.statements.restart(test.named("a"));

      expect(await lose(1, 0)).toMatchObject({ run: 2, recoveries: 0 });
      expect(await lose(1, 1)).toMatchObject({ run: 2, recoveries: 1 });
      expect(await lose(2, 0)).toMatchObject({ run: 2, recoveries: 1 });
      expect(await lose(2, 0)).toMatchObject({ run: 2, recoveries: 2 });
    });
  });
});

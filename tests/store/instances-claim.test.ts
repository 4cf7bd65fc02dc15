import { describe, expect, test } from "vitest";
import type { ClaimedInstance } from "../../src/store/instances/instance-records.ts";
import { DRIVERS } from "../support/engines.ts";
import { COMPLETED, ERRORED, LEASE_MS, RELEASED, RUNNING, useInstances } from "../support/use-instances.ts";

describe.each(DRIVERS)("claiming instances on $name", (engine) => {
  const fixture = useInstances(engine);
  const idsOf = (instances: readonly { id: string }[]) => instances.map(({ id }) => id);

  test("gives everything that a run needs, and leases it", async () => {
    const { ref } = await fixture.create({ id: "a", params: '{"n": 1}' });
    const created = fixture.now;
    fixture.clock.advance(50);

    expect(await fixture.claim({ lock: "mine" })).toEqual([
      {
        ...fixture.named("a"),
        ref,
        run: 1,
        version: 0,
        timeout: null,
        deadline: null,
        lock: "mine",
        params: '{"n": 1}',
        createdAt: created,
        recoveries: 0,
        wakes: 0,
        paused: false,
        schedule: null,
        trace: null,
        rollingBack: null,
        slotKey: null,
        begun: false,
        dueAt: created,
        startedAt: fixture.now,
        claimedAt: fixture.now,
      },
    ]);
    expect(await fixture.find("a")).toMatchObject({
      status: "running",
      startedAt: fixture.now,
      availableAt: fixture.now + LEASE_MS,
    });
  });

  test("gives an instance to one claimer only", async () => {
    await fixture.createMany(3);

    expect(await fixture.claim()).toHaveLength(3);
    expect(await fixture.claim()).toEqual([]);
  });

  test("never gives more than the limit, from all namespaces and classes", async () => {
    const other = `${fixture.namespace}-other`;
    await fixture.createMany(4);
    for (const instance of await fixture.claim()) await fixture.commit(instance, RELEASED);
    await fixture.createMany(4);
    await fixture.createMany(4, { namespace: other });
    const scopes = [fixture.namespace, other].map((namespace) => ({ namespace, names: ["checkout"] }));

    expect(await fixture.claim({ scopes, limit: 5 })).toHaveLength(5);
    expect(await fixture.claim({ scopes, limit: 100 })).toHaveLength(7);
  });

  test.each([0, -1])("gives nothing for a limit of %i", async (limit) => {
    await fixture.create();

    expect(await fixture.claim({ limit })).toEqual([]);
    expect(await fixture.claim()).toHaveLength(1);
  });

  test("leaves alone what sleeps", async () => {
    await fixture.park(await fixture.start({ id: "a" }), { dueAt: fixture.now + 1000 });

    fixture.clock.advance(999);
    expect(await fixture.claim()).toEqual([]);
    fixture.clock.advance(1);
    expect(await fixture.claim()).toMatchObject([{ id: "a", begun: true, dueAt: fixture.now, recoveries: 0 }]);
  });

  test("remembers when a run was first claimed", async () => {
    await fixture.park(await fixture.start({ id: "a" }), { dueAt: fixture.now + 1000 });
    const started = fixture.now;
    fixture.clock.advance(1000);
    await fixture.claimOne();

    expect(await fixture.find("a")).toMatchObject({ startedAt: started });
  });

  test("takes the oldest first, and of the same time the one created first", async () => {
    const delays = { d: 30, c: 20, b: 20, a: 40 };
    for (const [id, delay] of Object.entries(delays)) {
      await fixture.park(await fixture.start({ id }), { dueAt: fixture.now + delay });
    }
    fixture.clock.advance(100);

    expect(idsOf(await fixture.claim({ limit: 2 }))).toEqual(["c", "b"]);
    expect(idsOf(await fixture.claim())).toEqual(["d", "a"]);
  });

  test("takes what was lost first, then what continues, then what is fresh", async () => {
    await fixture.create({ id: "fresh" });
    fixture.clock.advance(10);
    await fixture.create({ id: "lost", lease: { lock: "gone", leaseMs: 1000 } });
    const { ref } = await fixture.create({ id: "slept", lease: { lock: "parks", leaseMs: LEASE_MS } });
    await fixture.park({ ref, run: 1, lock: "parks", wakes: 0 }, { dueAt: fixture.now + 500 });
    fixture.clock.advance(3000);

    expect(idsOf(await fixture.claim())).toEqual(["lost", "slept", "fresh"]);
  });

  test("takes what continues before older fresh ones when there isn't room for all", async () => {
    await fixture.park(await fixture.start({ id: "slept" }), { dueAt: fixture.now + 2000 });
    await fixture.createMany(3);
    fixture.clock.advance(2000);

    expect(idsOf(await fixture.claim({ limit: 1 }))).toEqual(["slept"]);
  });

  test("takes over at most one instance of all namespaces at a time", async () => {
    const namespaces = [fixture.namespace, `${fixture.namespace}-other`];
    const scopes = namespaces.map((namespace) => ({ namespace, names: ["checkout"] }));
    for (const namespace of namespaces) await fixture.create({ namespace, lease: { lock: "gone", leaseMs: LEASE_MS } });
    fixture.clock.advance(LEASE_MS);

    expect(await fixture.claim({ scopes })).toMatchObject([{ recoveries: 1 }]);
    expect(await fixture.claim({ scopes })).toMatchObject([{ recoveries: 1 }]);
    expect(await fixture.claim({ scopes })).toEqual([]);
  });

  test("takes over together what was lost with its first owner, and what was lost again by itself", async () => {
    for (const id of ["a", "b", "c"]) await fixture.create({ id, lease: { lock: "gone", leaseMs: 1000 } });
    fixture.clock.advance(1000);
    expect(await fixture.claim({ mostLost: 2, leaseMs: 1000 })).toHaveLength(2);
    fixture.clock.advance(1000);

    expect(idsOf(await fixture.claim({ mostLost: 9 }))).toEqual(["c"]);
    expect(idsOf(await fixture.claim({ mostLost: 9 }))).toEqual(["a"]);
    expect(idsOf(await fixture.claim({ mostLost: 9 }))).toEqual(["b"]);
  });

  test("counts what it takes over against the limit", async () => {
    await fixture.create({ lease: { lock: "gone", leaseMs: LEASE_MS } });
    await fixture.createMany(5);
    fixture.clock.advance(LEASE_MS);

    const claimed = await fixture.claim({ limit: 3 });
    expect(claimed.map(({ recoveries }) => recoveries)).toEqual([1, 0, 0]);
  });

  test("takes over nothing when that isn't wanted", async () => {
    await fixture.create({ id: "a", lease: { lock: "gone", leaseMs: 1000 } });
    await fixture.create({ id: "b" });
    fixture.clock.advance(1000);

    expect(idsOf(await fixture.claim({ takeOver: false }))).toEqual(["b"]);
  });

  test("gives only the names of each namespace that are registered", async () => {
    const other = `${fixture.namespace}-other`;
    await fixture.create({ id: "a", name: "checkout" });
    await fixture.create({ id: "b", name: "refund" });
    await fixture.create({ id: "c", name: "checkout", namespace: other });
    await fixture.create({ id: "d", name: "refund", namespace: other });
    const scopes = [
      { namespace: fixture.namespace, names: ["checkout"] },
      { namespace: other, names: ["refund"] },
    ];

    expect(idsOf(await fixture.claim({ scopes }))).toEqual(["a", "d"]);
    expect(await fixture.claim({ scopes: [] })).toEqual([]);
    expect(await fixture.claim({ scopes: [{ namespace: fixture.namespace, names: [] }] })).toEqual([]);
  });

  test.each([
    ["completed", COMPLETED],
    ["errored", ERRORED],
  ])("leaves alone what is %s", async (_, outcome) => {
    await fixture.commit(await fixture.start(), outcome);
    fixture.clock.advance(LEASE_MS * 10);

    expect(await fixture.claim()).toEqual([]);
  });

  describe("tells whether there is anything to load:", () => {
    test("events that were sent before the first claim", async () => {
      await fixture.create({ id: "a" });
      await fixture.send("a");

      expect(await fixture.claimOne()).toMatchObject({ begun: true, wakes: 1 });
    });

    test("entries that the first owner may have written", async () => {
      await fixture.commit(await fixture.start(), RELEASED);

      expect(await fixture.claimOne()).toMatchObject({ begun: true });
    });
  });

  describe("counts owners that were lost in a row:", () => {
    /** Claims it, lets its owner begin and write so many entries, and lets the lease run out. */
    async function lose(position: number, entries: number): Promise<ClaimedInstance> {
      const instance = await fixture.claimOne();
      expect(await fixture.statements.confirm([instance])).toEqual([true]);
      if (entries > 0) {
        const added = Array.from({ length: entries }, () => fixture.entry());
        expect(await fixture.commit(instance, RUNNING, { position, entries: added })).toMatchObject({
          result: "written",
        });
      }
      fixture.clock.advance(LEASE_MS);
      return instance;
    }

    test("one more each time, while the journal doesn't grow", async () => {
      await fixture.create();

      for (const recoveries of [0, 1, 2, 3]) expect(await lose(1, 0)).toMatchObject({ recoveries });
    });

    test("the first, and further ones only if they have written that they begin", async () => {
      await fixture.create();
      const loseSilently = async () => {
        const instance = await fixture.claimOne();
        fixture.clock.advance(LEASE_MS);
        return instance;
      };

      for (const recoveries of [0, 1, 1, 1]) expect(await loseSilently()).toMatchObject({ recoveries });
      expect(await lose(1, 0)).toMatchObject({ recoveries: 1 });
      expect(await loseSilently()).toMatchObject({ recoveries: 2 });
    });

    test("from one on again, when the journal has grown", async () => {
      await fixture.create();

      expect(await lose(1, 0)).toMatchObject({ recoveries: 0 });
      expect(await lose(1, 0)).toMatchObject({ recoveries: 1 });
      expect(await lose(1, 2)).toMatchObject({ recoveries: 2 });
      expect(await lose(3, 0)).toMatchObject({ recoveries: 1 });
      expect(await lose(3, 1)).toMatchObject({ recoveries: 2 });
      expect(await lose(4, 0)).toMatchObject({ recoveries: 1 });
    });

    test("none any more, when one has parked it", async () => {
      await fixture.create();
      await lose(1, 0);
      await fixture.park(await fixture.claimOne(), { dueAt: fixture.now + 10 });
      fixture.clock.advance(10);

      expect(await lose(1, 0)).toMatchObject({ recoveries: 0 });
      expect(await lose(1, 0)).toMatchObject({ recoveries: 1 });
    });

    test("not the one that gave it back, and it is still taken over alone", async () => {
      await fixture.create({ id: "a" });
      await fixture.create({ id: "b", lease: { lock: "gone", leaseMs: LEASE_MS * 3 } });
      await lose(1, 0);
      const recovered = await fixture.claimOne();
      expect(recovered).toMatchObject({ id: "a", recoveries: 1 });
      await fixture.commit(recovered, RELEASED);
      fixture.clock.advance(LEASE_MS * 3);

      expect(await fixture.claim({ takeOver: false })).toEqual([]);
      expect(await fixture.claim()).toMatchObject([{ id: "b", recoveries: 1 }]);
      const again = await fixture.claimOne();
      expect(again).toMatchObject({ id: "a", recoveries: 1 });
      await fixture.statements.confirm([again]);
      fixture.clock.advance(LEASE_MS);
      expect(await fixture.claim()).toMatchObject([{ id: "a", recoveries: 2 }]);
    });

    test("each run for itself", async () => {
      await fixture.create({ id: "a" });
      await lose(1, 3);
      await lose(4, 0);
      await fixture.statements.restart(fixture.named("a"));

      expect(await lose(1, 0)).toMatchObject({ run: 2, recoveries: 0 });
      expect(await lose(1, 1)).toMatchObject({ run: 2, recoveries: 1 });
      expect(await lose(2, 0)).toMatchObject({ run: 2, recoveries: 1 });
      expect(await lose(2, 0)).toMatchObject({ run: 2, recoveries: 2 });
    });
  });
});

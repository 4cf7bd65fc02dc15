import { describe, expect, test } from "vitest";
import type { ClaimedInstance } from "../../src/store/instances/instance-records.ts";
import { DRIVERS } from "../support/engines.ts";
import { COMPLETED, LEASE_MS, RELEASED, RUNNING, SLEEP_MS, useInstances } from "../support/use-instances.ts";

describe.each(DRIVERS)("leases of instances on $name", (engine) => {
  const fixture = useInstances(engine);

  describe("renewing", () => {
    test("extends a lease from now on, and tells what its owner should know", async () => {
      const { ref, run, lock } = await fixture.start({ id: "a" });
      await fixture.send("a");
      fixture.clock.advance(600);

      expect(await fixture.statements.renew([{ ref, run, lock }], 1000)).toEqual([
        { ref, run, lock, wakes: 1, paused: false, at: fixture.now },
      ]);
      expect(await fixture.find("a")).toMatchObject({ status: "running", availableAt: fixture.now + 1000 });
      await fixture.statements.pause(fixture.named("a"));
      expect(await fixture.statements.renew([{ ref, run, lock }], 1000)).toMatchObject([{ paused: true }]);
    });

    test("extends a lease that has ended, as long as no worker has taken it over", async () => {
      const instance = await fixture.start();
      fixture.clock.advance(LEASE_MS * 2);

      expect(await fixture.statements.renew([instance], LEASE_MS)).toHaveLength(1);
      expect(await fixture.claim()).toEqual([]);
    });

    test("gives only the leases that are still held, and leaves the rest as they are", async () => {
      const ids = ["kept", "parked", "completed", "released", "terminated", "restarted", "deleted"];
      await fixture.statements.insert(ids.map((id) => fixture.instance({ id })));
      const claimed = await fixture.claim();
      const find = (id: string) => claimed.find((instance) => instance.id === id) as ClaimedInstance;
      await fixture.park(find("parked"));
      await fixture.commit(find("completed"), COMPLETED);
      await fixture.commit(find("released"), RELEASED);
      for (const [id, operation] of [
        ["terminated", "terminate"],
        ["restarted", "restart"],
        ["deleted", "delete"],
      ] as const)
        await fixture.statements[operation](fixture.named(id));
      const before = (await fixture.list()).filter(({ id }) => id !== "kept");

      const renewed = await fixture.statements.renew(claimed, LEASE_MS * 2);

      expect(renewed.map(({ ref }) => ref)).toEqual([find("kept").ref]);
      expect((await fixture.list()).filter(({ id }) => id !== "kept")).toEqual(before);
    });

    test("is refused to an owner that was taken over from, and checks the run too", async () => {
      const lost = await fixture.start();
      fixture.clock.advance(LEASE_MS);
      const owner = await fixture.claimOne();

      expect(await fixture.statements.renew([lost, { ...owner, run: 2 }], LEASE_MS)).toEqual([]);
      expect(await fixture.statements.renew([owner, lost], LEASE_MS)).toMatchObject([{ lock: owner.lock }]);
      expect(await fixture.statements.renew([], LEASE_MS)).toEqual([]);
    });
  });

  describe("taking a parked instance again", () => {
    const again = { lock: "again", leaseMs: 1000 };

    test("is possible as long as no other worker has claimed it", async () => {
      const instance = await fixture.start({ id: "a" });
      await fixture.park(instance);
      fixture.clock.advance(100);
      const { ref, run } = instance;

      expect(await fixture.statements.reacquire(instance, again)).toEqual({
        ref,
        run,
        lock: "again",
        wakes: 0,
        paused: false,
        at: fixture.now,
      });
      expect(await fixture.find("a")).toMatchObject({ status: "running", availableAt: fixture.now + 1000 });
      expect(await fixture.commit({ ...instance, lock: "again" }, RUNNING)).toMatchObject({ result: "written" });
      expect(await fixture.commit(instance, RUNNING, { resent: true })).toEqual({ result: "superseded" });
    });

    test("is possible when it is due already or was woken, and reports it", async () => {
      const instance = await fixture.start({ id: "a" });
      await fixture.park(instance);
      await fixture.send("a");
      fixture.clock.advance(SLEEP_MS);

      expect(await fixture.statements.reacquire(instance, again)).toMatchObject({ wakes: 1 });
      expect(await fixture.claim()).toEqual([]);
    });

    test("may be repeated", async () => {
      const instance = await fixture.start({ id: "a" });
      await fixture.park(instance);
      const first = await fixture.statements.reacquire(instance, again);

      expect(await fixture.statements.reacquire(instance, again)).toEqual(first);
      expect(await fixture.statements.reacquire(instance, { ...again, lock: "another" })).toBeNull();
    });

    test("counts no recovery, but losing it does", async () => {
      const instance = await fixture.start({ id: "a" });
      await fixture.park(instance);
      await fixture.statements.reacquire(instance, again);
      fixture.clock.advance(1000);

      expect(await fixture.claim()).toMatchObject([{ id: "a", recoveries: 1 }]);
    });

    const parkAnd = (go: () => Promise<unknown>) => async (instance: ClaimedInstance) => {
      await fixture.park(instance);
      await go();
    };
    const obstacles: Record<string, (instance: ClaimedInstance) => Promise<unknown>> = {
      "it wasn't parked": async () => {},
      "it is finished": (instance) => fixture.commit(instance, COMPLETED),
      "it was given back": (instance) => fixture.commit(instance, RELEASED),
      "an owner has it": parkAnd(async () => {
        fixture.clock.advance(SLEEP_MS);
        await fixture.claimOne();
      }),
      "an owner had it": parkAnd(async () => {
        fixture.clock.advance(SLEEP_MS);
        await fixture.park(await fixture.claimOne());
      }),
      "it is paused": parkAnd(() => fixture.statements.pause(fixture.named("a"))),
      "it was terminated": parkAnd(() => fixture.statements.terminate(fixture.named("a"))),
      "it was restarted": parkAnd(() => fixture.statements.restart(fixture.named("a"))),
      "it was deleted": parkAnd(() => fixture.statements.delete(fixture.named("a"))),
    };

    test.each(Object.entries(obstacles))("isn't possible because %s", async (_, prevent) => {
      const instance = await fixture.start({ id: "a" });
      await prevent(instance);
      const before = await fixture.find("a");

      expect(await fixture.statements.reacquire(instance, again)).toBeNull();
      expect(await fixture.find("a")).toEqual(before);
    });
  });

  describe("the next wake", () => {
    test("is null when nothing waits", async () => {
      expect(await fixture.nextWake()).toBeNull();
      await fixture.commit(await fixture.start(), COMPLETED);
      await fixture.park(await fixture.start({ id: "a" }));
      await fixture.statements.pause(fixture.named("a"));
      expect(await fixture.nextWake()).toBeNull();
    });

    test("is how long it takes until the earliest instance of all classes is due", async () => {
      await fixture.start();
      expect(await fixture.nextWake()).toBe(LEASE_MS);
      await fixture.park(await fixture.start(), { dueAt: fixture.now + 7000 });
      expect(await fixture.nextWake()).toBe(7000);
      await fixture.create({ lease: { lock: "mine", leaseMs: 5000 } });
      expect(await fixture.nextWake()).toBe(5000);
      fixture.clock.advance(1000);
      expect(await fixture.nextWake()).toBe(4000);
      await fixture.create();
      expect(await fixture.nextWake()).toBe(0);
      fixture.clock.advance(40);
      expect(await fixture.nextWake()).toBe(-40);
    });

    test("leaves out leases for a worker that can't take over", async () => {
      await fixture.start();

      expect(await fixture.nextWake(["checkout"], false)).toBeNull();
    });

    test("leaves out names and namespaces that this process doesn't know", async () => {
      const other = `${fixture.namespace}-other`;
      await fixture.create({ name: "refund" });
      await fixture.create({ namespace: other });

      expect(await fixture.nextWake()).toBeNull();
      expect(await fixture.nextWake(["refund"])).toBe(0);
      expect(await fixture.nextWake([])).toBeNull();
      const swapped = [
        { namespace: fixture.namespace, names: ["checkout"] },
        { namespace: other, names: ["refund"] },
      ];
      expect(await fixture.statements.nextWake(swapped, { takeOver: true })).toBeNull();
    });
  });

  describe("of lost owners", () => {
    test("are known by their tokens, each once", async () => {
      await fixture.createMany(6);
      await fixture.claim({ limit: 2, lock: "one" });
      await fixture.claim({ limit: 1, lock: "two" });
      const [parked, completed, released] = (await fixture.claim({ limit: 3, lock: "three" })) as [
        ClaimedInstance,
        ClaimedInstance,
        ClaimedInstance,
      ];
      await fixture.park(parked);
      await fixture.commit(completed, COMPLETED);
      await fixture.commit(released, RELEASED);
      await fixture.create({ namespace: `${fixture.namespace}-other`, lease: { lock: "four", leaseMs: LEASE_MS } });

      expect((await fixture.statements.leaseTokens([fixture.namespace])).sort()).toEqual(["one", "two"]);
      expect(await fixture.statements.leaseTokens([`${fixture.namespace}-other`])).toEqual(["four"]);
      expect(await fixture.statements.leaseTokens([])).toEqual([]);
    });

    test("leave out what was given back after a takeover", async () => {
      await fixture.start();
      fixture.clock.advance(LEASE_MS);
      await fixture.commit(await fixture.claimOne(), RELEASED);

      expect(await fixture.statements.leaseTokens([fixture.namespace])).toEqual([]);
    });

    test("can be ended early, and count as recoveries", async () => {
      const other = `${fixture.namespace}-other`;
      await fixture.create({ id: "a", lease: { lock: "dead", leaseMs: LEASE_MS } });
      await fixture.create({ id: "b", lease: { lock: "alive", leaseMs: LEASE_MS } });
      await fixture.create({ id: "c", lease: { lock: "dead", leaseMs: LEASE_MS }, namespace: other });

      expect(await fixture.statements.expireLeases([fixture.namespace], ["dead", "never seen"])).toBe(1);
      expect(await fixture.claim()).toMatchObject([{ id: "a", recoveries: 1 }]);
      expect(await fixture.claim({ scopes: [{ namespace: other, names: ["checkout"] }] })).toEqual([]);
      expect(await fixture.statements.expireLeases([fixture.namespace], [])).toBe(0);
    });

    test("leave alone what the same owner has parked", async () => {
      const instance = await fixture.start({ id: "a" });
      await fixture.park(instance);

      expect(await fixture.statements.expireLeases([fixture.namespace], [instance.lock])).toBe(0);
      expect(await fixture.find("a")).toMatchObject({ availableAt: fixture.now + SLEEP_MS });
    });
  });

  describe("unknown names", () => {
    const unknown = async (names: readonly string[] = ["checkout"]) =>
      (await fixture.statements.unknownNames({ namespace: fixture.namespace, names })).sort();

    test("are those of unfinished instances that this process can't run, each once", async () => {
      await fixture.create();
      for (const name of ["refund", "refund", "audit"]) await fixture.create({ name });
      await fixture.create({ name: "elsewhere", namespace: `${fixture.namespace}-other` });

      expect(await unknown()).toEqual(["audit", "refund"]);
      expect(await unknown(["refund", "audit", "checkout"])).toEqual([]);
      expect(await unknown([])).toEqual(["audit", "checkout", "refund"]);
    });

    test("leave out what is finished or paused, but not what sleeps or runs", async () => {
      const names = ["finished", "paused", "asleep", "running"];
      for (const name of names) await fixture.create({ name, id: name });
      const scopes = [{ namespace: fixture.namespace, names }];
      const claimed = await fixture.claim({ scopes });
      const find = (id: string) => claimed.find((instance) => instance.id === id) as ClaimedInstance;
      await fixture.commit(find("finished"), COMPLETED);
      await fixture.park(find("asleep"));
      await fixture.statements.pause({ ...fixture.named("paused"), name: "paused" });

      expect(await unknown()).toEqual(["asleep", "running"]);
    });

    test("look behind finished instances of the same name", async () => {
      for (const instance of await fixture.createMany(3).then(() => fixture.claim()))
        await fixture.commit(instance, COMPLETED);
      await fixture.create({ id: "zzz" });

      expect(await unknown([])).toEqual(["checkout"]);
    });

    test("are at most twenty", async () => {
      const names = Array.from({ length: 30 }, (_, index) => `workflow ${index}`);
      await fixture.statements.insert(names.map((name) => fixture.instance({ name })));

      expect(await unknown()).toHaveLength(20);
    });
  });
});

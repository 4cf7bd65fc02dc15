import { describe, expect, it } from "vitest";
import type { ClaimedInstance } from "../../src/store/instance-records.ts";
import { ENGINES } from "../support/engines.ts";
import { COMPLETED, LEASE_MS, RELEASED, RUNNING, SLEEP_MS, useInstances } from "../support/use-instances.ts";

describe.each(ENGINES)("leases of instances on $name", (engine) => {
  const test = useInstances(engine);

  describe("renewing", () => {
    it("extends a lease from now on, and tells what its owner should know", async () => {
      const { ref, run, lock } = await test.start({ id: "a" });
      await test.send("a");
      test.clock.advance(600);

      expect(await test.statements.renew([{ ref, run, lock }], 1000)).toEqual([
        { ref, run, lock, wakes: 1, paused: false, at: test.now },
      ]);
      expect(await test.find("a")).toMatchObject({ status: "running", availableAt: test.now + 1000 });
      await test.statements.pause(test.named("a"));
      expect(await test.statements.renew([{ ref, run, lock }], 1000)).toMatchObject([{ paused: true }]);
    });

    it("extends a lease that has run out, while nobody has taken it over", async () => {
      const instance = await test.start();
      test.clock.advance(LEASE_MS * 2);

      expect(await test.statements.renew([instance], LEASE_MS)).toHaveLength(1);
      expect(await test.claim()).toEqual([]);
    });

    it("gives only the leases that are still held, and leaves the rest as they are", async () => {
      const ids = ["kept", "parked", "completed", "released", "terminated", "restarted", "deleted"];
      await test.statements.insert(ids.map((id) => test.instance({ id })));
      const claimed = await test.claim();
      const find = (id: string) => claimed.find((instance) => instance.id === id) as ClaimedInstance;
      await test.park(find("parked"));
      await test.commit(find("completed"), COMPLETED);
      await test.commit(find("released"), RELEASED);
      for (const [id, operation] of [
        ["terminated", "terminate"],
        ["restarted", "restart"],
        ["deleted", "delete"],
      ] as const)
        await test.statements[operation](test.named(id));
      const before = (await test.list()).filter(({ id }) => id !== "kept");

      const renewed = await test.statements.renew(claimed, LEASE_MS * 2);

      expect(renewed.map(({ ref }) => ref)).toEqual([find("kept").ref]);
      expect((await test.list()).filter(({ id }) => id !== "kept")).toEqual(before);
    });

    it("is refused to who was taken over from, and asks for the run too", async () => {
      const lost = await test.start();
      test.clock.advance(LEASE_MS);
      const owner = await test.claimOne();

      expect(await test.statements.renew([lost, { ...owner, run: 2 }], LEASE_MS)).toEqual([]);
      expect(await test.statements.renew([owner, lost], LEASE_MS)).toMatchObject([{ lock: owner.lock }]);
      expect(await test.statements.renew([], LEASE_MS)).toEqual([]);
    });
  });

  describe("taking a parked instance again", () => {
    const again = { lock: "again", leaseMs: 1000 };

    it("is possible while nobody has had it", async () => {
      const instance = await test.start({ id: "a" });
      await test.park(instance);
      test.clock.advance(100);
      const { ref, run } = instance;

      expect(await test.statements.reacquire(instance, again)).toEqual({
        ref,
        run,
        lock: "again",
        wakes: 0,
        paused: false,
        at: test.now,
      });
      expect(await test.find("a")).toMatchObject({ status: "running", availableAt: test.now + 1000 });
      expect(await test.commit({ ...instance, lock: "again" }, RUNNING)).toMatchObject({ result: "written" });
      expect(await test.commit(instance, RUNNING, { resent: true })).toEqual({ result: "superseded" });
    });

    it("is possible when it is due already or was woken, and tells of it", async () => {
      const instance = await test.start({ id: "a" });
      await test.park(instance);
      await test.send("a");
      test.clock.advance(SLEEP_MS);

      expect(await test.statements.reacquire(instance, again)).toMatchObject({ wakes: 1 });
      expect(await test.claim()).toEqual([]);
    });

    it("may be asked for again", async () => {
      const instance = await test.start({ id: "a" });
      await test.park(instance);
      const first = await test.statements.reacquire(instance, again);

      expect(await test.statements.reacquire(instance, again)).toEqual(first);
      expect(await test.statements.reacquire(instance, { ...again, lock: "another" })).toBeNull();
    });

    it("counts no recovery, but losing it does", async () => {
      const instance = await test.start({ id: "a" });
      await test.park(instance);
      await test.statements.reacquire(instance, again);
      test.clock.advance(1000);

      expect(await test.claim()).toMatchObject([{ id: "a", recoveries: 1 }]);
    });

    const parkAnd = (go: () => Promise<unknown>) => async (instance: ClaimedInstance) => {
      await test.park(instance);
      await go();
    };
    const obstacles: Record<string, (instance: ClaimedInstance) => Promise<unknown>> = {
      "it wasn't parked": async () => {},
      "it is finished": (instance) => test.commit(instance, COMPLETED),
      "it was given back": (instance) => test.commit(instance, RELEASED),
      "somebody has it": parkAnd(async () => {
        test.clock.advance(SLEEP_MS);
        await test.claimOne();
      }),
      "somebody had it": parkAnd(async () => {
        test.clock.advance(SLEEP_MS);
        await test.park(await test.claimOne());
      }),
      "it is paused": parkAnd(() => test.statements.pause(test.named("a"))),
      "it was terminated": parkAnd(() => test.statements.terminate(test.named("a"))),
      "it was restarted": parkAnd(() => test.statements.restart(test.named("a"))),
      "it was deleted": parkAnd(() => test.statements.delete(test.named("a"))),
    };

    it.each(Object.entries(obstacles))("isn't possible because %s", async (_, prevent) => {
      const instance = await test.start({ id: "a" });
      await prevent(instance);
      const before = await test.find("a");

      expect(await test.statements.reacquire(instance, again)).toBeNull();
      expect(await test.find("a")).toEqual(before);
    });
  });

  describe("the next wake", () => {
    it("is null when nothing waits", async () => {
      expect(await test.nextWake()).toBeNull();
      await test.commit(await test.start(), COMPLETED);
      await test.park(await test.start({ id: "a" }));
      await test.statements.pause(test.named("a"));
      expect(await test.nextWake()).toBeNull();
    });

    it("is how long it takes until the earliest instance of all classes is due", async () => {
      await test.start();
      expect(await test.nextWake()).toBe(LEASE_MS);
      await test.park(await test.start(), { dueAt: test.now + 7000 });
      expect(await test.nextWake()).toBe(7000);
      await test.create({ lease: { lock: "mine", leaseMs: 5000 } });
      expect(await test.nextWake()).toBe(5000);
      test.clock.advance(1000);
      expect(await test.nextWake()).toBe(4000);
      await test.create();
      expect(await test.nextWake()).toBe(0);
      test.clock.advance(40);
      expect(await test.nextWake()).toBe(-40);
    });

    it("leaves out leases for who can take over nothing", async () => {
      await test.start();

      expect(await test.nextWake(["checkout"], false)).toBeNull();
    });

    it("leaves out names and namespaces that this process doesn't know", async () => {
      const other = `${test.namespace}-other`;
      await test.create({ name: "refund" });
      await test.create({ namespace: other });

      expect(await test.nextWake()).toBeNull();
      expect(await test.nextWake(["refund"])).toBe(0);
      expect(await test.nextWake([])).toBeNull();
      const swapped = [
        { namespace: test.namespace, names: ["checkout"] },
        { namespace: other, names: ["refund"] },
      ];
      expect(await test.statements.nextWake(swapped, { takeOver: true })).toBeNull();
    });
  });

  describe("of lost owners", () => {
    it("are known by their tokens, each once", async () => {
      await test.createMany(6);
      await test.claim({ limit: 2, lock: "one" });
      await test.claim({ limit: 1, lock: "two" });
      const [parked, completed, released] = (await test.claim({ limit: 3, lock: "three" })) as [
        ClaimedInstance,
        ClaimedInstance,
        ClaimedInstance,
      ];
      await test.park(parked);
      await test.commit(completed, COMPLETED);
      await test.commit(released, RELEASED);
      await test.create({ namespace: `${test.namespace}-other`, lease: { lock: "four", leaseMs: LEASE_MS } });

      expect((await test.statements.leaseTokens([test.namespace])).sort()).toEqual(["one", "two"]);
      expect(await test.statements.leaseTokens([`${test.namespace}-other`])).toEqual(["four"]);
      expect(await test.statements.leaseTokens([])).toEqual([]);
    });

    it("leave out what was given back after a takeover", async () => {
      await test.start();
      test.clock.advance(LEASE_MS);
      await test.commit(await test.claimOne(), RELEASED);

      expect(await test.statements.leaseTokens([test.namespace])).toEqual([]);
    });

    it("can be ended early, and count as recoveries", async () => {
      const other = `${test.namespace}-other`;
      await test.create({ id: "a", lease: { lock: "dead", leaseMs: LEASE_MS } });
      await test.create({ id: "b", lease: { lock: "alive", leaseMs: LEASE_MS } });
      await test.create({ id: "c", lease: { lock: "dead", leaseMs: LEASE_MS }, namespace: other });

      expect(await test.statements.expireLeases([test.namespace], ["dead", "never seen"])).toBe(1);
      expect(await test.claim()).toMatchObject([{ id: "a", recoveries: 1 }]);
      expect(await test.claim({ scopes: [{ namespace: other, names: ["checkout"] }] })).toEqual([]);
      expect(await test.statements.expireLeases([test.namespace], [])).toBe(0);
    });

    it("leave alone what the same owner has parked", async () => {
      const instance = await test.start({ id: "a" });
      await test.park(instance);

      expect(await test.statements.expireLeases([test.namespace], [instance.lock])).toBe(0);
      expect(await test.find("a")).toMatchObject({ availableAt: test.now + SLEEP_MS });
    });
  });

  describe("unknown names", () => {
    const unknown = async (names: readonly string[] = ["checkout"]) =>
      (await test.statements.unknownNames({ namespace: test.namespace, names })).sort();

    it("are those of unfinished instances that nobody here can run, each once", async () => {
      await test.create();
      for (const name of ["refund", "refund", "audit"]) await test.create({ name });
      await test.create({ name: "elsewhere", namespace: `${test.namespace}-other` });

      expect(await unknown()).toEqual(["audit", "refund"]);
      expect(await unknown(["refund", "audit", "checkout"])).toEqual([]);
      expect(await unknown([])).toEqual(["audit", "checkout", "refund"]);
    });

    it("leave out what is finished or paused, but not what sleeps or runs", async () => {
      const names = ["finished", "paused", "asleep", "running"];
      for (const name of names) await test.create({ name, id: name });
      const scopes = [{ namespace: test.namespace, names }];
      const claimed = await test.claim({ scopes });
      const find = (id: string) => claimed.find((instance) => instance.id === id) as ClaimedInstance;
      await test.commit(find("finished"), COMPLETED);
      await test.park(find("asleep"));
      await test.statements.pause({ ...test.named("paused"), name: "paused" });

      expect(await unknown()).toEqual(["asleep", "running"]);
    });

    it("look behind finished instances of the same name", async () => {
      for (const instance of await test.createMany(3).then(() => test.claim())) await test.commit(instance, COMPLETED);
      await test.create({ id: "zzz" });

      expect(await unknown([])).toEqual(["checkout"]);
    });

    it("are at most twenty", async () => {
      const names = Array.from({ length: 30 }, (_, index) => `workflow ${index}`);
      await test.statements.insert(names.map((name) => test.instance({ name })));

      expect(await unknown()).toHaveLength(20);
    });
  });
});

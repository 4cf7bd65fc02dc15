import { describe, expect, it } from "vitest";
import type { ClaimedInstance, InstanceOutcome } from "../../src/store/instance-records.ts";
import type { LineLimits } from "../../src/store/line-records.ts";
import { ENGINES } from "../support/engines.ts";
import { COMPLETED, ERRORED, LEASE_MS, RELEASED, RUNNING, SLEEP_MS, useInstances } from "../support/use-instances.ts";

const MINUTE = 60_000;
const ids = (instances: readonly ClaimedInstance[]) => instances.map(({ id }) => id);

describe.each(ENGINES)("lines on $name", (engine) => {
  const test = useInstances(engine);
  const key = () => `${test.namespace}/checkout`;
  const slot = () => ({ slotKey: key() });
  const rate = () => ({ rateKey: key() });
  const joinAll = async (...names: string[]) => {
    for (const name of names) await test.join(name, slot());
  };
  const end = (instance: ClaimedInstance, outcome: InstanceOutcome = COMPLETED) =>
    test.commit(instance, outcome, { limited: true });
  const one = async (limits: Partial<LineLimits>) => {
    const admitted = await test.admit(limits);
    if (admitted.length !== 1) throw new Error(`Expected to admit one instance, got ${ids(admitted)}.`);
    return admitted[0] as ClaimedInstance;
  };

  describe("slots", () => {
    it("lets in as many as the limit says, the oldest first, and nothing by an ordinary claim", async () => {
      await joinAll("a", "b", "c");

      expect(await test.claim()).toEqual([]);
      expect(await test.nextWake()).toBeNull();
      expect(ids(await test.admit({ slots: 2 }))).toEqual(["a", "b"]);
      expect(await test.admit({ slots: 2 })).toEqual([]);
      expect(await test.find("a")).toMatchObject({ status: "running" });
      expect(await test.find("c")).toMatchObject({ status: "queued" });
    });

    it("gives a claimed instance everything that a run needs", async () => {
      await test.join("a", { ...slot(), schedule: "1" });
      test.clock.advance(5);
      const [admitted] = await test.admit({ slots: 1 }, { lock: "mine" });

      expect(admitted).toMatchObject({
        ...test.named("a"),
        run: 1,
        lock: "mine",
        params: "null",
        begun: false,
        recoveries: 0,
        wakes: 0,
        schedule: "1",
        slotKey: key(),
        claimedAt: test.now,
        createdAt: test.now - 5,
      });
      expect(await test.statements.renew([admitted as ClaimedInstance], LEASE_MS)).toHaveLength(1);
    });

    it.each<[string, InstanceOutcome]>([
      ["completed", COMPLETED],
      ["errored", ERRORED],
    ])("are free when what has one is %s", async (_, outcome) => {
      await joinAll("a", "b", "c");
      const a = await one({ slots: 1 });
      expect(await test.nextAdmission()).toBeNull();
      await end(a, RUNNING);
      expect(await test.admit({ slots: 1 })).toEqual([]);
      await end(a, outcome);

      expect(await test.nextAdmission()).toBe(0);
      expect(ids(await test.admit({ slots: 1 }))).toEqual(["b"]);
    });

    it("are free when what has one sleeps, and it stands in line when it is due, before what is new", async () => {
      await joinAll("a", "b", "c");
      const a = await one({ slots: 1 });
      await test.park(a, { limited: true });
      const b = await one({ slots: 1 });
      expect(b.id).toBe("b");
      test.clock.advance(SLEEP_MS);
      expect(await test.claim({ takeOver: false })).toEqual([]);
      expect(await test.admit({ slots: 1 })).toEqual([]);
      await end(b);

      expect(await one({ slots: 1 })).toMatchObject({ id: "a", begun: true });
    });

    it("has the line looked at when the first sleeper is due, and not before", async () => {
      await test.join("a", slot());
      await test.park(await one({ slots: 1 }), { limited: true });
      expect(await test.admit({ slots: 1 })).toEqual([]);
      expect(await test.nextAdmission()).toBe(SLEEP_MS);
      test.clock.advance(SLEEP_MS);

      expect(ids(await test.admit({ slots: 1 }))).toEqual(["a"]);
    });

    it("are free when what has one is given back, and it is the next to have one", async () => {
      await joinAll("a", "b");
      await end(await one({ slots: 1 }), RELEASED);
      expect(await test.claim()).toEqual([]);

      expect(ids(await test.admit({ slots: 1 }))).toEqual(["a"]);
    });

    it("stay with what is lost until somebody takes it over, and then with that", async () => {
      await joinAll("a", "b");
      await one({ slots: 1 });
      test.clock.advance(LEASE_MS);
      expect(await test.admit({ slots: 1 })).toEqual([]);
      const taken = await test.claimOne();
      expect(taken).toMatchObject({ id: "a", recoveries: 1, slotKey: key() });
      expect(await test.admit({ slots: 1 })).toEqual([]);
      await end(taken, RELEASED); // it stays in the lane of what was recovered, with its slot
      expect(await test.admit({ slots: 1 })).toEqual([]);
      await end(await test.claimOne());

      expect(ids(await test.admit({ slots: 1 }))).toEqual(["b"]);
    });

    it.each(["terminate", "delete", "restart"] as const)("are free when what has one meets %s", async (operation) => {
      await joinAll("a", "b");
      const a = await one({ slots: 1 });
      test.clock.advance(1);
      await test.statements[operation](test.named("a"));
      expect(ids(await test.admit({ slots: 1 }))).toEqual(["b"]);
      expect(await end(a)).toEqual({ result: "superseded" });
    });

    it("aren't free while what has one is about to pause, and are when it is paused", async () => {
      await joinAll("a", "b");
      const a = await one({ slots: 1 });
      await test.statements.pause(test.named("a"));
      expect(await test.admit({ slots: 1 })).toEqual([]);
      await end(a, RELEASED);
      const b = await one({ slots: 1 });
      expect(b.id).toBe("b");
      await test.statements.resume(test.named("a"));
      expect(await test.find("a")).toMatchObject({ status: "waiting" });
      expect(await test.claim()).toEqual([]);
      expect(await test.admit({ slots: 1 })).toEqual([]);
      await end(b);

      expect(ids(await test.admit({ slots: 1 }))).toEqual(["a"]);
    });

    it("can be more or fewer with other code", async () => {
      await joinAll("a", "b", "c", "d");
      expect(await test.admit({ slots: 1 })).toHaveLength(1);
      expect(await test.statements.openLines([test.namespace])).toBe(true);
      expect(await test.admit({ slots: 3 })).toHaveLength(2);
      await test.statements.openLines([test.namespace]);
      expect(await test.admit({ slots: 2 })).toHaveLength(0);
      await test.statements.openLines([test.namespace]);
      expect(await test.admit({})).toHaveLength(1);
    });

    it("are counted for each key, and lines have equal shares of the room", async () => {
      for (const tenant of ["x", "y", "z"]) {
        for (let number = 1; number <= 4; number++) {
          await test.join(`${tenant}${number}`, { slotKey: `${key()}/${tenant}` });
        }
      }
      expect(ids(await test.admit({ slots: 3 }, { room: 6 }))).toEqual(["x1", "x2", "y1", "y2", "z1", "z2"]);
      expect(await test.nextAdmission()).toBe(0);
      expect(ids(await test.admit({ slots: 3 }, { room: 6 }))).toEqual(["x3", "y3", "z3"]);
      expect(await test.nextAdmission()).toBeNull();
    });

    it("never go to more than there is room for; the rest is looked for again", async () => {
      await joinAll("a", "b", "c");
      expect(ids(await test.admit({ slots: 3 }, { room: 2 }))).toEqual(["a", "b"]);
      expect(await test.admit({ slots: 3 }, { room: 0 })).toEqual([]);
      expect(ids(await test.admit({ slots: 3 }, { room: 2 }))).toEqual(["c"]);
    });

    it("go to what has begun, then by priority, then to the oldest", async () => {
      await test.join("low", { ...slot(), priority: -100 });
      await test.join("usual", slot());
      await test.join("high", { ...slot(), priority: 100 });
      await test.join("higher than usual", { ...slot(), priority: 1 });
      test.clock.advance(1);
      await test.join("usual, too", slot());

      const admitted = ids(await test.admit({ slots: 10 }));
      expect(admitted).toEqual(["high", "higher than usual", "usual", "usual, too", "low"]);
    });
  });

  describe("what stands in line", () => {
    it("isn't let in while it is paused", async () => {
      await joinAll("a", "b");
      await test.statements.pause(test.named("a"));
      expect(ids(await test.admit({ slots: 1 }))).toEqual(["b"]);
      await test.statements.resume(test.named("a"));
      expect(await test.find("a")).toMatchObject({ status: "queued" });
      expect(await test.claim()).toEqual([]);
      expect(ids(await test.admit({ slots: 2 }))).toEqual([]); // the line is full, as far as anybody knows
      await test.statements.terminate(test.named("b"));
      expect(ids(await test.admit({ slots: 2 }))).toEqual(["a"]);
    });

    it("is told of when it is resumed and there are slots", async () => {
      await test.join("a", slot());
      await test.statements.pause(test.named("a"));
      expect(await test.admit({ slots: 1 })).toEqual([]);
      await test.statements.resume(test.named("a"));
      expect(ids(await test.admit({ slots: 1 }))).toEqual(["a"]);
    });

    it.each(["terminate", "delete"] as const)("is gone after %s, and takes no slot", async (operation) => {
      await joinAll("a", "b");
      await test.statements[operation](test.named("a"));
      expect(ids(await test.admit({ slots: 2 }))).toEqual(["b"]);
    });

    it("stands there once after a restart", async () => {
      await joinAll("a", "b");
      test.clock.advance(1);
      await test.statements.restart(test.named("a"));
      expect(await test.admit({ slots: 2 })).toMatchObject([{ id: "b" }, { id: "a", run: 2 }]);
    });

    it("goes to another line when it is restarted with another key, and to none when it has none any more", async () => {
      const moved = { statuses: null, params: '"new"', keys: { slotKey: `${key()}/other`, rateKey: null } };
      await joinAll("a", "b");
      await one({ slots: 1 });
      await test.statements.restart(test.named("a"), moved);
      expect(ids(await test.admit({ slots: 1 })).toSorted()).toEqual(["a", "b"]); // each in a line of its own

      await test.statements.restart(test.named("b"), { ...moved, keys: { slotKey: null, rateKey: null } });
      expect(await test.admit({ slots: 1 })).toEqual([]);
      expect(ids(await test.claim())).toEqual(["b"]);
      await test.statements.restart(test.named("b"), moved);
      expect(await test.admit({ slots: 1 })).toEqual([]); // "a" has the slot
      expect(await test.claim()).toEqual([]);
    });

    it("is let in anew when it was finished and is restarted", async () => {
      await test.join("a", slot());
      await end(await one({ slots: 1 }));
      await test.admit({ slots: 1 });
      await test.statements.restart(test.named("a"));
      expect(await test.claim()).toEqual([]);
      expect(await test.admit({ slots: 1 })).toMatchObject([{ id: "a", run: 2 }]);
    });

    it("gets events, which don't let it in past the limit", async () => {
      await joinAll("a", "b");
      const a = await one({ slots: 1 });
      await test.send("b");
      expect(await test.claim()).toEqual([]);
      expect(await test.admit({ slots: 1 })).toEqual([]);
      await test.park(a, { limited: true });
      const b = await one({ slots: 1 });
      expect(b).toMatchObject({ id: "b", wakes: 1, begun: true });
      await test.send("a", { eventId: "event-2" });
      expect(await test.claim()).toEqual([]);
      expect(await test.admit({ slots: 1 })).toEqual([]);
      await end(b);
      expect(await one({ slots: 1 })).toMatchObject({ id: "a", wakes: 1 });
    });

    it("is due at once when an event comes and there are slots", async () => {
      await test.join("a", slot());
      await test.park(await one({ slots: 1 }), { limited: true });
      await test.admit({ slots: 1 });
      await test.send("a");
      expect(await test.nextAdmission()).toBe(0);
      expect(ids(await test.admit({ slots: 1 }))).toEqual(["a"]);
    });

    it("leaves nothing behind when all of it is finished", async () => {
      await joinAll("a", "b");
      await test.join("c", rate());
      const starts = { limit: 5, periodMs: MINUTE };
      for (const admitted of await test.admit({ slots: 2, starts })) await end(admitted);
      expect(await test.admit({ slots: 2, starts })).toEqual([]);
      expect(await test.statements.openLines([test.namespace])).toBe(true); // for the start that counts
      test.clock.advance(MINUTE);
      expect(await test.admit({ slots: 2, starts })).toEqual([]);
      expect(await test.statements.openLines([test.namespace])).toBe(false);
    });
  });

  describe("taking a parked instance again", () => {
    it("needs a slot", async () => {
      await joinAll("a", "b");
      const a = await one({ slots: 1 });
      await test.park(a, { limited: true });
      const b = await one({ slots: 1 });
      const lease = { lock: "again", leaseMs: LEASE_MS, slots: { key: key(), limit: 1 } };
      expect(await test.statements.reacquire(a, lease)).toBe("full");
      expect(await test.find("a")).toMatchObject({ status: "waiting" });
      await end(b);
      expect(await test.statements.reacquire(a, lease)).toMatchObject({ ref: a.ref, lock: "again" });
      expect(await test.statements.reacquire(a, lease)).toMatchObject({ ref: a.ref, lock: "again" }); // sent again
      await test.join("c", slot());

      expect(await test.admit({ slots: 1 })).toEqual([]);
    });

    it("takes nothing that somebody else has had", async () => {
      await test.join("a", slot());
      const a = await one({ slots: 1 });
      await test.park(a, { limited: true, dueAt: test.now });
      await one({ slots: 1 });
      const lease = { lock: "again", leaseMs: LEASE_MS, slots: { key: key(), limit: 2 } };
      expect(await test.statements.reacquire(a, lease)).toBeNull();
    });
  });

  describe("starts", () => {
    const starts = { limit: 2, periodMs: MINUTE };

    it("are as many in any period as the limit says", async () => {
      for (const id of ["a", "b", "c", "d", "e"]) await test.join(id, rate());
      expect(await test.claim()).toEqual([]);
      expect(ids(await test.admit({ starts }, { room: 1 }))).toEqual(["a"]);
      test.clock.advance(MINUTE / 2);
      expect(ids(await test.admit({ starts }))).toEqual(["b"]);
      expect(await test.nextAdmission()).toBe(MINUTE / 2);
      test.clock.advance(MINUTE / 2 - 1);
      expect(await test.admit({ starts })).toEqual([]);
      test.clock.advance(1);
      expect(ids(await test.admit({ starts }))).toEqual(["c"]);
      test.clock.advance(MINUTE / 2);
      expect(ids(await test.admit({ starts }))).toEqual(["d"]);
      expect(await test.nextAdmission()).toBe(MINUTE / 2);
    });

    it("aren't looked at while nothing can start, however many join", async () => {
      for (const id of ["a", "b", "c"]) await test.join(id, rate());
      expect(await test.admit({ starts })).toHaveLength(2);
      expect(await test.nextAdmission()).toBe(MINUTE);
      await test.join("d", rate());
      await test.send("c");
      expect(await test.nextAdmission()).toBe(MINUTE);
    });

    it("count restarts, and not wakes, takeovers and what was given back", async () => {
      for (const id of ["a", "b"]) await test.join(id, rate());
      const [a, b] = (await test.admit({ starts })) as [ClaimedInstance, ClaimedInstance];
      await test.park(a, { dueAt: test.now });
      await test.commit(b, RELEASED);
      expect(ids(await test.claim())).toEqual(["a", "b"]);
      await test.statements.restart(test.named("a"));
      expect(await test.claim()).toEqual([]);
      expect(await test.admit({ starts })).toEqual([]);
      test.clock.advance(MINUTE);
      expect(await test.claimOne()).toMatchObject({ id: "b", recoveries: 1 });
      expect(await test.admit({ starts })).toMatchObject([{ id: "a", run: 2 }]);
    });

    it("follow priorities", async () => {
      await test.join("low", { ...rate(), priority: -1 });
      await test.join("usual", rate());
      await test.join("high", { ...rate(), priority: 1 });
      expect(ids(await test.admit({ starts }))).toEqual(["high", "usual"]);
    });

    it("aren't limited any more by code that has no limit", async () => {
      for (const id of ["a", "b", "c"]) await test.join(id, rate());
      expect(await test.admit({ starts })).toHaveLength(2);
      await test.statements.openLines([test.namespace]);
      expect(ids(await test.admit({}))).toEqual(["c"]);
    });

    it("can be fewer with other code", async () => {
      for (const id of ["a", "b", "c"]) await test.join(id, rate());
      expect(await test.admit({ starts })).toHaveLength(2);
      test.clock.advance(1000);
      await test.statements.openLines([test.namespace]);
      expect(await test.admit({ starts: { limit: 1, periodMs: 2 * MINUTE } })).toEqual([]);
      expect(await test.nextAdmission()).toBe(2 * MINUTE - 1000);
    });
  });

  describe("slots and starts", () => {
    const limits = { slots: 2, starts: { limit: 3, periodMs: MINUTE } };
    const both = () => ({ ...slot(), ...rate() });

    it("are both needed to start, and slots alone to go on", async () => {
      for (const id of ["a", "b", "c", "d"]) await test.join(id, both());
      const [a, b] = (await test.admit(limits)) as [ClaimedInstance, ClaimedInstance];
      expect([a.id, b.id]).toEqual(["a", "b"]);
      await end(a);
      const c = await one(limits);
      await test.park(b, { limited: true, dueAt: test.now + 1000 });
      await end(c);
      expect(await test.admit(limits)).toEqual([]); // d must wait for a start
      expect(await test.nextAdmission()).toBe(1000);
      test.clock.advance(1000);
      expect(ids(await test.admit(limits))).toEqual(["b"]); // it has started before
      expect(await test.nextAdmission()).toBe(MINUTE - 1000);
      test.clock.advance(MINUTE - 1000);
      expect(await test.admit(limits, { lock: "other" })).toMatchObject([{ id: "d" }]);
    });

    it("let those pass whose own rate isn't used up", async () => {
      const starts = { limit: 1, periodMs: MINUTE };
      for (const [id, tenant] of [
        ["a1", "a"],
        ["a2", "a"],
        ["a3", "a"],
        ["b1", "b"],
        ["c1", "c"],
      ] as const) {
        await test.join(id, { ...slot(), rateKey: `${key()}/${tenant}` });
      }
      expect(ids(await test.admit({ slots: 2, starts }))).toEqual(["a1", "b1"]);
      expect(ids(await test.admit({ slots: 3, starts }))).toEqual([]);
      await test.statements.openLines([test.namespace]);
      expect(ids(await test.admit({ slots: 4, starts }))).toEqual(["c1"]);
      expect(await test.nextAdmission()).toBe(MINUTE);
    });
  });

  describe("priorities without limits", () => {
    it("are followed by claims: what has begun, then higher ones, then the oldest, then lower ones", async () => {
      await test.park(await test.start({ id: "begun" }), { dueAt: test.now + 100 });
      await test.join("low", { priority: -1 });
      await test.join("lower", { priority: -2 });
      await test.create({ id: "first" });
      await test.create({ id: "second" });
      await test.join("high", { priority: 1 });
      await test.join("higher", { priority: 2 });
      test.clock.advance(100);
      await test.join("high, too", { priority: 1 });
      await test.join("highest", { priority: 100 });

      const order = ["begun", "highest", "higher", "high", "high, too", "first", "second", "low", "lower"];
      expect(ids(await test.claim())).toEqual(order);
    });

    it("are followed while claims of a long queue go on where they stopped", async () => {
      await test.createMany(6);
      expect(await test.claim({ limit: 2 })).toHaveLength(2);
      await test.join("high", { priority: 1 });
      expect(ids(await test.claim({ limit: 1 }))).toEqual(["high"]);
      expect(await test.claim({ limit: 1 })).toHaveLength(1);
      await test.join("higher", { priority: 2 });
      await test.join("high, too", { priority: 1 });
      expect(ids(await test.claim({ limit: 2 }))).toEqual(["higher", "high, too"]);
    });

    it("are kept by a restart, and due at once", async () => {
      await test.join("a", { priority: 5 });
      await test.commit(await test.claimOne(), COMPLETED);
      await test.create({ id: "b" });
      await test.statements.restart(test.named("a"));
      expect(await test.nextWake()).toBeLessThanOrEqual(0);
      expect(ids(await test.claim())).toEqual(["a", "b"]);
    });
  });
});

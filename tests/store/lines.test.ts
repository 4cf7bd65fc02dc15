import { describe, expect, test } from "vitest";
import type { ClaimedInstance, InstanceOutcome } from "../../src/store/instances/instance-records.ts";
import { DRIVERS } from "../support/engines.ts";
import { COMPLETED, ERRORED, LEASE_MS, RELEASED, RUNNING, SLEEP_MS } from "../support/use-instances.ts";
import { ids, useLines } from "../support/use-lines.ts";

describe.each(DRIVERS)("lines on $name", (engine) => {
  const { fixture, key, slot, joinAll, end, one } = useLines(engine);

  describe("slots", () => {
    test("lets in as many as the limit says, the oldest first, and nothing by an ordinary claim", async () => {
      await joinAll("a", "b", "c");

      expect(await fixture.claim()).toEqual([]);
      expect(await fixture.nextWake()).toBeNull();
      expect(ids(await fixture.admit({ slots: 2 }))).toEqual(["a", "b"]);
      expect(await fixture.admit({ slots: 2 })).toEqual([]);
      expect(await fixture.find("a")).toMatchObject({ status: "running" });
      expect(await fixture.find("c")).toMatchObject({ status: "queued" });
    });

    test("gives a claimed instance everything that a run needs", async () => {
      await fixture.join("a", { ...slot(), schedule: "1" });
      fixture.clock.advance(5);
      const [admitted] = await fixture.admit({ slots: 1 }, { lock: "mine" });

      expect(admitted).toMatchObject({
        ...fixture.named("a"),
        run: 1,
        lock: "mine",
        params: "null",
        begun: false,
        recoveries: 0,
        wakes: 0,
        schedule: "1",
        slotKey: key(),
        claimedAt: fixture.now,
        createdAt: fixture.now - 5,
      });
      expect(await fixture.statements.renew([admitted as ClaimedInstance], LEASE_MS)).toHaveLength(1);
    });

    test.each<[string, InstanceOutcome]>([
      ["completed", COMPLETED],
      ["errored", ERRORED],
    ])("are free when what has one is %s", async (_, outcome) => {
      await joinAll("a", "b", "c");
      const a = await one({ slots: 1 });
      expect(await fixture.nextAdmission()).toBeNull();
      await end(a, RUNNING);
      expect(await fixture.admit({ slots: 1 })).toEqual([]);
      await end(a, outcome);

      expect(await fixture.nextAdmission()).toBe(0);
      expect(ids(await fixture.admit({ slots: 1 }))).toEqual(["b"]);
    });

    test("are free when what has one sleeps, and it stands in line when it is due, before what is new", async () => {
      await joinAll("a", "b", "c");
      const a = await one({ slots: 1 });
      await fixture.park(a, { limited: true });
      const b = await one({ slots: 1 });
      expect(b.id).toBe("b");
      fixture.clock.advance(SLEEP_MS);
      expect(await fixture.claim({ takeOver: false })).toEqual([]);
      expect(await fixture.admit({ slots: 1 })).toEqual([]);
      await end(b);

      expect(await one({ slots: 1 })).toMatchObject({ id: "a", begun: true });
    });

    test("has the line looked at when the first sleeper is due, and not before", async () => {
      await fixture.join("a", slot());
      await fixture.park(await one({ slots: 1 }), { limited: true });
      expect(await fixture.admit({ slots: 1 })).toEqual([]);
      expect(await fixture.nextAdmission()).toBe(SLEEP_MS);
      fixture.clock.advance(SLEEP_MS);

      expect(ids(await fixture.admit({ slots: 1 }))).toEqual(["a"]);
    });

    test("are free when what has one is given back, and it is the next to have one", async () => {
      await joinAll("a", "b");
      await end(await one({ slots: 1 }), RELEASED);
      expect(await fixture.claim()).toEqual([]);

      expect(ids(await fixture.admit({ slots: 1 }))).toEqual(["a"]);
    });

    test("stay with a lost instance until a worker takes it over, and then with its new owner", async () => {
      await joinAll("a", "b");
      await one({ slots: 1 });
      fixture.clock.advance(LEASE_MS);
      expect(await fixture.admit({ slots: 1 })).toEqual([]);
      const taken = await fixture.claimOne();
      expect(taken).toMatchObject({ id: "a", recoveries: 1, slotKey: key() });
      expect(await fixture.admit({ slots: 1 })).toEqual([]);
      await end(taken, RELEASED); // it stays in the lane of what was recovered, with its slot
      expect(await fixture.admit({ slots: 1 })).toEqual([]);
      await end(await fixture.claimOne());

      expect(ids(await fixture.admit({ slots: 1 }))).toEqual(["b"]);
    });

    test.each(["terminate", "delete", "restart"] as const)("are free when what has one meets %s", async (operation) => {
      await joinAll("a", "b");
      const a = await one({ slots: 1 });
      fixture.clock.advance(1);
      await fixture.statements[operation](fixture.named("a"));
      expect(ids(await fixture.admit({ slots: 1 }))).toEqual(["b"]);
      expect(await end(a)).toEqual({ result: "superseded" });
    });

    test("aren't free while what has one is about to pause, and are when it is paused", async () => {
      await joinAll("a", "b");
      const a = await one({ slots: 1 });
      await fixture.statements.pause(fixture.named("a"));
      expect(await fixture.admit({ slots: 1 })).toEqual([]);
      await end(a, RELEASED);
      const b = await one({ slots: 1 });
      expect(b.id).toBe("b");
      await fixture.statements.resume(fixture.named("a"));
      expect(await fixture.find("a")).toMatchObject({ status: "waiting" });
      expect(await fixture.claim()).toEqual([]);
      expect(await fixture.admit({ slots: 1 })).toEqual([]);
      await end(b);

      expect(ids(await fixture.admit({ slots: 1 }))).toEqual(["a"]);
    });

    test("can be more or fewer with other code", async () => {
      await joinAll("a", "b", "c", "d");
      expect(await fixture.admit({ slots: 1 })).toHaveLength(1);
      expect(await fixture.statements.openLines([fixture.namespace])).toBe(true);
      expect(await fixture.admit({ slots: 3 })).toHaveLength(2);
      await fixture.statements.openLines([fixture.namespace]);
      expect(await fixture.admit({ slots: 2 })).toHaveLength(0);
      await fixture.statements.openLines([fixture.namespace]);
      expect(await fixture.admit({})).toHaveLength(1);
    });

    test("are counted for each key, and lines have equal shares of the room", async () => {
      for (const tenant of ["x", "y", "z"]) {
        for (let number = 1; number <= 4; number++) {
          await fixture.join(`${tenant}${number}`, { slotKey: `${key()}/${tenant}` });
        }
      }
      expect(ids(await fixture.admit({ slots: 3 }, { room: 6 }))).toEqual(["x1", "x2", "y1", "y2", "z1", "z2"]);
      expect(await fixture.nextAdmission()).toBe(0);
      expect(ids(await fixture.admit({ slots: 3 }, { room: 6 }))).toEqual(["x3", "y3", "z3"]);
      expect(await fixture.nextAdmission()).toBeNull();
    });

    test("never go to more than there is room for; the rest is looked for again", async () => {
      await joinAll("a", "b", "c");
      expect(ids(await fixture.admit({ slots: 3 }, { room: 2 }))).toEqual(["a", "b"]);
      expect(await fixture.admit({ slots: 3 }, { room: 0 })).toEqual([]);
      expect(ids(await fixture.admit({ slots: 3 }, { room: 2 }))).toEqual(["c"]);
    });

    test("go to what has begun, then by priority, then to the oldest", async () => {
      await fixture.join("low", { ...slot(), priority: -100 });
      await fixture.join("usual", slot());
      await fixture.join("high", { ...slot(), priority: 100 });
      await fixture.join("higher than usual", { ...slot(), priority: 1 });
      fixture.clock.advance(1);
      await fixture.join("usual, too", slot());

      const admitted = ids(await fixture.admit({ slots: 10 }));
      expect(admitted).toEqual(["high", "higher than usual", "usual", "usual, too", "low"]);
    });
  });

  describe("taking a parked instance again", () => {
    test("needs a slot", async () => {
      await joinAll("a", "b");
      const a = await one({ slots: 1 });
      await fixture.park(a, { limited: true });
      const b = await one({ slots: 1 });
      const lease = { lock: "again", leaseMs: LEASE_MS, slots: { key: key(), limit: 1 } };
      expect(await fixture.statements.reacquire(a, lease)).toBe("full");
      expect(await fixture.find("a")).toMatchObject({ status: "waiting" });
      await end(b);
      expect(await fixture.statements.reacquire(a, lease)).toMatchObject({ ref: a.ref, lock: "again" });
      expect(await fixture.statements.reacquire(a, lease)).toMatchObject({ ref: a.ref, lock: "again" }); // sent again
      await fixture.join("c", slot());

      expect(await fixture.admit({ slots: 1 })).toEqual([]);
    });

    test("takes no instance that another worker has claimed since", async () => {
      await fixture.join("a", slot());
      const a = await one({ slots: 1 });
      await fixture.park(a, { limited: true, dueAt: fixture.now });
      await one({ slots: 1 });
      const lease = { lock: "again", leaseMs: LEASE_MS, slots: { key: key(), limit: 2 } };
      expect(await fixture.statements.reacquire(a, lease)).toBeNull();
    });
  });
});

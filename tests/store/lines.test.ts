import { describe, expect, it } from "vitest";
import type { ClaimedInstance, InstanceOutcome } from "../../src/store/instance-records.ts";
import { ENGINES } from "../support/engines.ts";
import { COMPLETED, ERRORED, LEASE_MS, RELEASED, RUNNING, SLEEP_MS } from "../support/use-instances.ts";
import { ids, useLines } from "../support/use-lines.ts";

describe.each(ENGINES)("lines on $name", (engine) => {
  const { test, key, slot, joinAll, end, one } = useLines(engine);

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
});

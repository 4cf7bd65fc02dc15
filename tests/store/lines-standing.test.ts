import { describe, expect, test } from "vitest";
import { DRIVERS } from "../support/engines.ts";
import { ids, MINUTE, useLines } from "../support/use-lines.ts";

describe.each(DRIVERS)("lines on $name", (engine) => {
  const { fixture, key, slot, rate, joinAll, end, one } = useLines(engine);

  describe("an instance in a line", () => {
    test("isn't let in while it is paused", async () => {
      await joinAll("a", "b");
      await fixture.statements.pause(fixture.named("a"));
      expect(ids(await fixture.admit({ slots: 1 }))).toEqual(["b"]);
      await fixture.statements.resume(fixture.named("a"));
      expect(await fixture.find("a")).toMatchObject({ status: "queued" });
      expect(await fixture.claim()).toEqual([]);
      expect(ids(await fixture.admit({ slots: 2 }))).toEqual([]); // the line is full, as far as the store knows
      await fixture.statements.terminate(fixture.named("b"));
      expect(ids(await fixture.admit({ slots: 2 }))).toEqual(["a"]);
    });

    test("is announced when it is resumed and there are slots", async () => {
      await fixture.join("a", slot());
      await fixture.statements.pause(fixture.named("a"));
      expect(await fixture.admit({ slots: 1 })).toEqual([]);
      await fixture.statements.resume(fixture.named("a"));
      expect(ids(await fixture.admit({ slots: 1 }))).toEqual(["a"]);
    });

    test.each(["terminate", "delete"] as const)("is gone after %s, and takes no slot", async (operation) => {
      await joinAll("a", "b");
      await fixture.statements[operation](fixture.named("a"));
      expect(ids(await fixture.admit({ slots: 2 }))).toEqual(["b"]);
    });

    test("stands there once after a restart", async () => {
      await joinAll("a", "b");
      fixture.clock.advance(1);
      await fixture.statements.restart(fixture.named("a"));
      expect(await fixture.admit({ slots: 2 })).toMatchObject([{ id: "b" }, { id: "a", run: 2 }]);
    });

    test("goes to another line when it is restarted with another key, and to none when it has none any more", async () => {
      const moved = { statuses: null, params: '"new"', keys: { slotKey: `${key()}/other`, rateKey: null } };
      await joinAll("a", "b");
      await one({ slots: 1 });
      await fixture.statements.restart(fixture.named("a"), moved);
      expect(ids(await fixture.admit({ slots: 1 })).toSorted()).toEqual(["a", "b"]); // each in a line of its own

      await fixture.statements.restart(fixture.named("b"), { ...moved, keys: { slotKey: null, rateKey: null } });
      expect(await fixture.admit({ slots: 1 })).toEqual([]);
      expect(ids(await fixture.claim())).toEqual(["b"]);
      await fixture.statements.restart(fixture.named("b"), moved);
      expect(await fixture.admit({ slots: 1 })).toEqual([]); // "a" has the slot
      expect(await fixture.claim()).toEqual([]);
    });

    test("is let in again when it was finished and is restarted", async () => {
      await fixture.join("a", slot());
      await end(await one({ slots: 1 }));
      await fixture.admit({ slots: 1 });
      await fixture.statements.restart(fixture.named("a"));
      expect(await fixture.claim()).toEqual([]);
      expect(await fixture.admit({ slots: 1 })).toMatchObject([{ id: "a", run: 2 }]);
    });

    test("gets events, which don't let it in past the limit", async () => {
      await joinAll("a", "b");
      const a = await one({ slots: 1 });
      await fixture.send("b");
      expect(await fixture.claim()).toEqual([]);
      expect(await fixture.admit({ slots: 1 })).toEqual([]);
      await fixture.park(a, { limited: true });
      const b = await one({ slots: 1 });
      expect(b).toMatchObject({ id: "b", wakes: 1, begun: true });
      await fixture.send("a", { eventId: "event-2" });
      expect(await fixture.claim()).toEqual([]);
      expect(await fixture.admit({ slots: 1 })).toEqual([]);
      await end(b);
      expect(await one({ slots: 1 })).toMatchObject({ id: "a", wakes: 1 });
    });

    test("is due at once when an event comes and there are slots", async () => {
      await fixture.join("a", slot());
      await fixture.park(await one({ slots: 1 }), { limited: true });
      await fixture.admit({ slots: 1 });
      await fixture.send("a");
      expect(await fixture.nextAdmission()).toBe(0);
      expect(ids(await fixture.admit({ slots: 1 }))).toEqual(["a"]);
    });

    test("leaves nothing behind when all of it is finished", async () => {
      await joinAll("a", "b");
      await fixture.join("c", rate());
      const starts = { limit: 5, periodMs: MINUTE };
      for (const admitted of await fixture.admit({ slots: 2, starts })) await end(admitted);
      expect(await fixture.admit({ slots: 2, starts })).toEqual([]);
      expect(await fixture.statements.openLines([fixture.namespace])).toBe(true); // for the start that counts
      fixture.clock.advance(MINUTE);
      expect(await fixture.admit({ slots: 2, starts })).toEqual([]);
      expect(await fixture.statements.openLines([fixture.namespace])).toBe(false);
    });
  });
});

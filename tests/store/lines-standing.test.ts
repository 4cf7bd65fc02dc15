import { describe, expect, it } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { ids, MINUTE, useLines } from "../support/use-lines.ts";

describe.each(ENGINES)("lines on $name", (engine) => {
  const { test, key, slot, rate, joinAll, end, one } = useLines(engine);

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
});

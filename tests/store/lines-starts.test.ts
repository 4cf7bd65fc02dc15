import { describe, expect, it } from "vitest";
import type { ClaimedInstance } from "../../src/store/instance-records.ts";
import { ENGINES } from "../support/engines.ts";
import { RELEASED } from "../support/use-instances.ts";
import { ids, MINUTE, useLines } from "../support/use-lines.ts";

describe.each(ENGINES)("lines on $name", (engine) => {
  const { test, key, slot, rate, end, one } = useLines(engine);

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
});

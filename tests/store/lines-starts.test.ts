import { describe, expect, test } from "vitest";
import type { ClaimedInstance } from "../../src/store/instances/instance-records.ts";
import { DRIVERS } from "../support/engines.ts";
import { RELEASED } from "../support/use-instances.ts";
import { ids, MINUTE, useLines } from "../support/use-lines.ts";

describe.each(DRIVERS)("lines on $name", (engine) => {
  const { fixture, key, slot, rate, end, one } = useLines(engine);

  describe("starts", () => {
    const starts = { limit: 2, periodMs: MINUTE };

    test("are as many in any period as the limit says", async () => {
      for (const id of ["a", "b", "c", "d", "e"]) await fixture.join(id, rate());
      expect(await fixture.claim()).toEqual([]);
      expect(ids(await fixture.admit({ starts }, { room: 1 }))).toEqual(["a"]);
      fixture.clock.advance(MINUTE / 2);
      expect(ids(await fixture.admit({ starts }))).toEqual(["b"]);
      expect(await fixture.nextAdmission()).toBe(MINUTE / 2);
      fixture.clock.advance(MINUTE / 2 - 1);
      expect(await fixture.admit({ starts })).toEqual([]);
      fixture.clock.advance(1);
      expect(ids(await fixture.admit({ starts }))).toEqual(["c"]);
      fixture.clock.advance(MINUTE / 2);
      expect(ids(await fixture.admit({ starts }))).toEqual(["d"]);
      expect(await fixture.nextAdmission()).toBe(MINUTE / 2);
    });

    test("aren't looked at while nothing can start, however many join", async () => {
      for (const id of ["a", "b", "c"]) await fixture.join(id, rate());
      expect(await fixture.admit({ starts })).toHaveLength(2);
      expect(await fixture.nextAdmission()).toBe(MINUTE);
      await fixture.join("d", rate());
      await fixture.send("c");
      expect(await fixture.nextAdmission()).toBe(MINUTE);
    });

    test("count restarts, and not wakes, takeovers and what was given back", async () => {
      for (const id of ["a", "b"]) await fixture.join(id, rate());
      const [a, b] = (await fixture.admit({ starts })) as [ClaimedInstance, ClaimedInstance];
      await fixture.park(a, { dueAt: fixture.now });
      await fixture.commit(b, RELEASED);
      expect(ids(await fixture.claim())).toEqual(["a", "b"]);
      await fixture.statements.restart(fixture.named("a"));
      expect(await fixture.claim()).toEqual([]);
      expect(await fixture.admit({ starts })).toEqual([]);
      fixture.clock.advance(MINUTE);
      expect(await fixture.claimOne()).toMatchObject({ id: "b", recoveries: 1 });
      expect(await fixture.admit({ starts })).toMatchObject([{ id: "a", run: 2 }]);
    });

    test("follow priorities", async () => {
      await fixture.join("low", { ...rate(), priority: -1 });
      await fixture.join("usual", rate());
      await fixture.join("high", { ...rate(), priority: 1 });
      expect(ids(await fixture.admit({ starts }))).toEqual(["high", "usual"]);
    });

    test("aren't limited any more by code that has no limit", async () => {
      for (const id of ["a", "b", "c"]) await fixture.join(id, rate());
      expect(await fixture.admit({ starts })).toHaveLength(2);
      await fixture.statements.openLines([fixture.namespace]);
      expect(ids(await fixture.admit({}))).toEqual(["c"]);
    });

    test("can be fewer with other code", async () => {
      for (const id of ["a", "b", "c"]) await fixture.join(id, rate());
      expect(await fixture.admit({ starts })).toHaveLength(2);
      fixture.clock.advance(1000);
      await fixture.statements.openLines([fixture.namespace]);
      expect(await fixture.admit({ starts: { limit: 1, periodMs: 2 * MINUTE } })).toEqual([]);
      expect(await fixture.nextAdmission()).toBe(2 * MINUTE - 1000);
    });
  });

  describe("slots and starts", () => {
    const limits = { slots: 2, starts: { limit: 3, periodMs: MINUTE } };
    const both = () => ({ ...slot(), ...rate() });

    test("are both needed to start, and slots alone to continue", async () => {
      for (const id of ["a", "b", "c", "d"]) await fixture.join(id, both());
      const [a, b] = (await fixture.admit(limits)) as [ClaimedInstance, ClaimedInstance];
      expect([a.id, b.id]).toEqual(["a", "b"]);
      await end(a);
      const c = await one(limits);
      await fixture.park(b, { limited: true, dueAt: fixture.now + 1000 });
      await end(c);
      expect(await fixture.admit(limits)).toEqual([]); // d must wait for a start
      expect(await fixture.nextAdmission()).toBe(1000);
      fixture.clock.advance(1000);
      expect(ids(await fixture.admit(limits))).toEqual(["b"]); // it has started before
      expect(await fixture.nextAdmission()).toBe(MINUTE - 1000);
      fixture.clock.advance(MINUTE - 1000);
      expect(await fixture.admit(limits, { lock: "other" })).toMatchObject([{ id: "d" }]);
    });

    test("let those pass whose own rate isn't used up", async () => {
      const starts = { limit: 1, periodMs: MINUTE };
      for (const [id, tenant] of [
        ["a1", "a"],
        ["a2", "a"],
        ["a3", "a"],
        ["b1", "b"],
        ["c1", "c"],
      ] as const) {
        await fixture.join(id, { ...slot(), rateKey: `${key()}/${tenant}` });
      }
      expect(ids(await fixture.admit({ slots: 2, starts }))).toEqual(["a1", "b1"]);
      expect(ids(await fixture.admit({ slots: 3, starts }))).toEqual([]);
      await fixture.statements.openLines([fixture.namespace]);
      expect(ids(await fixture.admit({ slots: 4, starts }))).toEqual(["c1"]);
      expect(await fixture.nextAdmission()).toBe(MINUTE);
    });
  });
});

import { describe, expect, test } from "vitest";
import { DRIVERS } from "../support/engines.ts";
import { COMPLETED } from "../support/use-instances.ts";
import { ids, useLines } from "../support/use-lines.ts";

describe.each(DRIVERS)("instances on $name", (engine) => {
  const { fixture } = useLines(engine);

  describe("priorities without limits", () => {
    test("are followed by claims: what has begun, then higher ones, then the oldest, then lower ones", async () => {
      await fixture.park(await fixture.start({ id: "begun" }), { dueAt: fixture.now + 100 });
      await fixture.join("low", { priority: -1 });
      await fixture.join("lower", { priority: -2 });
      await fixture.create({ id: "first" });
      await fixture.create({ id: "second" });
      await fixture.join("high", { priority: 1 });
      await fixture.join("higher", { priority: 2 });
      fixture.clock.advance(100);
      await fixture.join("high, too", { priority: 1 });
      await fixture.join("highest", { priority: 100 });

      const order = ["begun", "highest", "higher", "high", "high, too", "first", "second", "low", "lower"];
      expect(ids(await fixture.claim())).toEqual(order);
    });

    test("are followed while claims of a long queue continue where they stopped", async () => {
      await fixture.createMany(6);
      expect(await fixture.claim({ limit: 2 })).toHaveLength(2);
      await fixture.join("high", { priority: 1 });
      expect(ids(await fixture.claim({ limit: 1 }))).toEqual(["high"]);
      expect(await fixture.claim({ limit: 1 })).toHaveLength(1);
      await fixture.join("higher", { priority: 2 });
      await fixture.join("high, too", { priority: 1 });
      expect(ids(await fixture.claim({ limit: 2 }))).toEqual(["higher", "high, too"]);
    });

    test("are kept by a restart, and due at once", async () => {
      await fixture.join("a", { priority: 5 });
      await fixture.commit(await fixture.claimOne(), COMPLETED);
      await fixture.create({ id: "b" });
      await fixture.statements.restart(fixture.named("a"));
      expect(await fixture.nextWake()).toBeLessThanOrEqual(0);
      expect(ids(await fixture.claim())).toEqual(["a", "b"]);
    });
  });
});

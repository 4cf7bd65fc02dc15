import { describe, expect, it } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { COMPLETED } from "../support/use-instances.ts";
import { ids, useLines } from "../support/use-lines.ts";

describe.each(ENGINES)("instances on $name", (engine) => {
  const { test } = useLines(engine);

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

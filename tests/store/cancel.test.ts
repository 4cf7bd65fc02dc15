import { describe, expect, test } from "vitest";
import { DRIVERS } from "../support/engines.ts";
import { COMPLETED, FAILED, useStore } from "../support/use-store.ts";

const NOTHING = { cancelled: [], running: [] };

describe.each(DRIVERS)("cancelling hooks on $name", (engine) => {
  const fixture = useStore(engine);
  const byKey = { name: "greet", key: "k" };

  test("deletes a pending hook by its key", async () => {
    await fixture.insert({ id: "a", key: "k", processAt: fixture.clock.now() + 5000 });
    await fixture.insert({ id: "b", key: "other" });
    await fixture.insert({ id: "c", key: "k", name: "wave" });

    expect(await fixture.hooks.cancel(fixture.namespace, byKey)).toEqual({ cancelled: ["a"], running: [] });
    expect(await fixture.ids()).toEqual(["b", "c"]);
    expect(await fixture.insert({ id: "d", key: "k" })).toMatchObject({ result: "inserted" });
  });

  test("deletes a pending hook by its id", async () => {
    await fixture.insert({ id: "a" });
    await fixture.insert({ id: "b" });

    expect(await fixture.hooks.cancel(fixture.namespace, { id: "a" })).toEqual({ cancelled: ["a"], running: [] });
    expect(await fixture.ids()).toEqual(["b"]);
  });

  test("drops what would run once more, and lets what runs continue", async () => {
    await fixture.insert({ id: "a", key: "k", payload: "1" });
    const running = await fixture.claimOne();
    await fixture.insert({ key: "k", payload: "2" });

    expect(await fixture.hooks.cancel(fixture.namespace, byKey)).toEqual({ cancelled: [], running: ["a"] });
    expect(await fixture.settle(running, COMPLETED)).toBe("deleted");
  });

  test("takes triggers again after the cancelled one", async () => {
    await fixture.insert({ id: "a", key: "k" });
    const running = await fixture.claimOne();
    await fixture.insert({ key: "k", payload: "2" });
    await fixture.hooks.cancel(fixture.namespace, byKey);
    await fixture.insert({ key: "k", payload: "3" });

    expect(await fixture.settle(running, COMPLETED)).toBe("pending");
    expect(await fixture.claim()).toMatchObject([{ payload: "3", triggers: 2 }]);
  });

  test("leaves finished hooks and other namespaces alone", async () => {
    await fixture.insert({ id: "a", key: "k" });
    await fixture.settle(await fixture.claimOne(), FAILED);

    expect(await fixture.hooks.cancel(fixture.namespace, byKey)).toEqual(NOTHING);
    expect(await fixture.hooks.cancel(fixture.namespace, { id: "a" })).toEqual(NOTHING);
    expect(await fixture.hooks.cancel("elsewhere", { id: "a" })).toEqual(NOTHING);
    expect(await fixture.get("a")).toMatchObject({ status: "failed" });
  });

  test("says when there is nothing", async () => {
    expect(await fixture.hooks.cancel(fixture.namespace, byKey)).toEqual(NOTHING);
  });
});

import { describe, expect, it } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { COMPLETED, FAILED, useStore } from "../support/use-store.ts";

const NOTHING = { cancelled: [], running: [] };

describe.each(ENGINES)("cancelling hooks on $name", (engine) => {
  const test = useStore(engine);
  const byKey = { name: "greet", key: "k" };

  it("deletes a pending hook by its key", async () => {
    await test.insert({ id: "a", key: "k", processAt: test.clock.now() + 5000 });
    await test.insert({ id: "b", key: "other" });
    await test.insert({ id: "c", key: "k", name: "wave" });

    expect(await test.hooks.cancel(test.namespace, byKey)).toEqual({ cancelled: ["a"], running: [] });
    expect(await test.ids()).toEqual(["b", "c"]);
    expect(await test.insert({ id: "d", key: "k" })).toMatchObject({ result: "inserted" });
  });

  it("deletes a pending hook by its id", async () => {
    await test.insert({ id: "a" });
    await test.insert({ id: "b" });

    expect(await test.hooks.cancel(test.namespace, { id: "a" })).toEqual({ cancelled: ["a"], running: [] });
    expect(await test.ids()).toEqual(["b"]);
  });

  it("drops what would run once more, and lets what runs go on", async () => {
    await test.insert({ id: "a", key: "k", payload: "1" });
    const running = await test.claimOne();
    await test.insert({ key: "k", payload: "2" });

    expect(await test.hooks.cancel(test.namespace, byKey)).toEqual({ cancelled: [], running: ["a"] });
    expect(await test.settle(running, COMPLETED)).toBe("deleted");
  });

  it("takes triggers again after the cancelled one", async () => {
    await test.insert({ id: "a", key: "k" });
    const running = await test.claimOne();
    await test.insert({ key: "k", payload: "2" });
    await test.hooks.cancel(test.namespace, byKey);
    await test.insert({ key: "k", payload: "3" });

    expect(await test.settle(running, COMPLETED)).toBe("pending");
    expect(await test.claim()).toMatchObject([{ payload: "3", triggers: 2 }]);
  });

  it("leaves finished hooks and other namespaces alone", async () => {
    await test.insert({ id: "a", key: "k" });
    await test.settle(await test.claimOne(), FAILED);

    expect(await test.hooks.cancel(test.namespace, byKey)).toEqual(NOTHING);
    expect(await test.hooks.cancel(test.namespace, { id: "a" })).toEqual(NOTHING);
    expect(await test.hooks.cancel("elsewhere", { id: "a" })).toEqual(NOTHING);
    expect(await test.get("a")).toMatchObject({ status: "failed" });
  });

  it("says when there is nothing", async () => {
    expect(await test.hooks.cancel(test.namespace, byKey)).toEqual(NOTHING);
  });
});

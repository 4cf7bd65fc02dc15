import { describe, expect, it } from "vitest";
import { RelayWork } from "../../src/hooks/relay-work.ts";
import type { HookInsert } from "../../src/store/hook-records.ts";
import { RELAY, toRelay } from "../../src/store/relay.ts";
import { ENGINES } from "../support/engines.ts";
import { COMPLETED, useStore } from "../support/use-store.ts";

describe.each(ENGINES)("a relayed trigger on $name", (engine) => {
  const test = useStore(engine);

  function scopes(...names: string[]) {
    return [{ namespace: test.namespace, names }];
  }

  async function relay(id: string, overrides: Partial<HookInsert> = {}): Promise<RelayWork> {
    await test.hooks.insert([toRelay(test.trigger({ id, key: "k", payload: `"${id}"`, ...overrides }))]);
    return new RelayWork(await test.claimOne({ scopes: scopes(RELAY) }), test.store);
  }

  it("is written once, and its relay is gone", async () => {
    await (await relay("a")).execute(() => {});

    expect(await test.ids()).toEqual(["a"]);
    expect(await test.get("a")).toMatchObject({ key: "k", payload: '"a"', status: "pending" });
  });

  it("is debounced from the time at which it was triggered", async () => {
    const late = await relay("a", { debounce: { delayMs: 1000, maxWaitMs: 5000 } });
    test.clock.advance(300);
    await late.execute(() => {});
    expect((await test.get("a"))?.availableAt).toBe(test.clock.now() + 700);

    const another = await relay("b", { debounce: { delayMs: 1000, maxWaitMs: 5000 } });
    test.clock.advance(100);
    await another.execute(() => {});
    expect(await test.get("a")).toMatchObject({ payload: '"b"', availableAt: test.clock.now() + 900 });
  });

  it("is due at once if it was relayed before triggers could be debounced", async () => {
    const { debounce: _, ...before } = test.trigger({ id: "a", key: "k" });
    await test.hooks.insert([toRelay(before as HookInsert)]);
    await new RelayWork(await test.claimOne({ scopes: scopes(RELAY) }), test.store).execute(() => {});

    expect((await test.get("a"))?.availableAt).toBe(test.clock.now());
  });

  it("isn't written again by an owner that is late, when all is done", async () => {
    const late = await relay("a");
    await late.execute(() => {}); // as whoever took it over did
    await test.settle(await test.claimOne(), COMPLETED);
    await test.insert({ id: "b", key: "k", payload: '"newer"' });

    await late.execute(() => {});
    expect(await test.ids()).toEqual(["b"]);
    expect(await test.claimOne()).toMatchObject({ id: "b", payload: '"newer"', triggers: 1 });
  });
});

import { describe, expect, it } from "vitest";
import { RelayWork } from "../../src/hooks/relay-work.ts";
import { RELAY, toRelay } from "../../src/store/relay.ts";
import { ENGINES } from "../support/engines.ts";
import { COMPLETED, useStore } from "../support/use-store.ts";

describe.each(ENGINES)("a relayed trigger on $name", (engine) => {
  const test = useStore(engine);

  function scopes(...names: string[]) {
    return [{ namespace: test.namespace, names }];
  }

  async function relay(id: string): Promise<RelayWork> {
    await test.hooks.insert([toRelay(test.trigger({ id, key: "k", payload: `"${id}"` }))]);
    return new RelayWork(await test.claimOne({ scopes: scopes(RELAY) }), test.store);
  }

  it("is written once, and its relay is gone", async () => {
    await (await relay("a")).execute(() => {});

    expect(await test.ids()).toEqual(["a"]);
    expect(await test.get("a")).toMatchObject({ key: "k", payload: '"a"', status: "pending" });
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

import { describe, expect, test } from "vitest";
import { RelayWork } from "../../src/hooks/relay-work.ts";
import type { ClaimedHook, HookInsert } from "../../src/store/hooks/hook-records.ts";
import { RELAY, triggerRelay } from "../../src/store/hooks/relay.ts";
import type { WorkNotice } from "../../src/store/queue/work-board.ts";
import type { Store } from "../../src/store/store.ts";
import { ENGINES } from "../support/engines.ts";
import { COMPLETED, useStore } from "../support/use-store.ts";

describe.each(ENGINES)("a relayed trigger on $name", (engine) => {
  const fixture = useStore(engine);

  function scopes(...names: string[]) {
    return [{ namespace: fixture.namespace, names }];
  }

  async function relay(id: string, overrides: Partial<HookInsert> = {}): Promise<RelayWork> {
    await fixture.hooks.insert([
      triggerRelay(fixture.trigger({ id, key: "k", payload: `"${id}"`, ...overrides })).hook,
    ]);
    return new RelayWork(await fixture.claimOne({ scopes: scopes(RELAY) }), fixture.store);
  }

  test("is written once, and its relay is gone", async () => {
    await (await relay("a")).execute(() => {});

    expect(await fixture.ids()).toEqual(["a"]);
    expect(await fixture.get("a")).toMatchObject({ key: "k", payload: '"a"', status: "pending" });
  });

  test("is debounced from the time at which it was triggered", async () => {
    const late = await relay("a", { debounce: { delayMs: 1000, maxWaitMs: 5000 } });
    fixture.clock.advance(300);
    await late.execute(() => {});
    expect((await fixture.get("a"))?.availableAt).toBe(fixture.clock.now() + 700);

    const another = await relay("b", { debounce: { delayMs: 1000, maxWaitMs: 5000 } });
    fixture.clock.advance(100);
    await another.execute(() => {});
    expect(await fixture.get("a")).toMatchObject({ payload: '"b"', availableAt: fixture.clock.now() + 900 });
  });

  test("isn't written again by an owner that is late, when all is done", async () => {
    const late = await relay("a");
    await late.execute(() => {}); // as the process that took it over did
    await fixture.settle(await fixture.claimOne(), COMPLETED);
    await fixture.insert({ id: "b", key: "k", payload: '"newer"' });

    await late.execute(() => {});
    expect(await fixture.ids()).toEqual(["b"]);
    expect(await fixture.claimOne()).toMatchObject({ id: "b", payload: '"newer"', triggers: 1 });
  });

  test("is announced to workers when its owner releases it", async () => {
    const held = await relay("a");
    const notices: WorkNotice[] = [];
    const taker = { notice: (notice: WorkNotice) => notices.push(notice) > 0, reserve: () => null };
    const leave = fixture.store.work.join(taker, { listens: false });
    await held.release();
    leave();
    expect(notices).toEqual([{ namespace: fixture.namespace, delayMs: 0 }]);
  });
});

test("relayed triggers of one key are written in their order, even if the server's clock was set back between them", async () => {
  const written: HookInsert[] = [];
  const trigger = (id: string): HookInsert => ({
    namespace: "app",
    id,
    ownId: false,
    name: "charge",
    key: "k",
    triggers: 1,
    triggeredAt: null,
    payload: `"${id}"`,
    retries: null,
    trace: null,
    processAt: null,
    debounce: null,
    lease: null,
  });
  const relays = [
    { payload: triggerRelay(trigger("first")).hook.payload, createdAt: 2000 },
    { payload: triggerRelay(trigger("last")).hook.payload, createdAt: 1000 },
  ];
  const transaction = {
    takeRelays: async () => relays,
    insertHooks: async (hooks: HookInsert[]) => void written.push(...hooks),
  };
  const engine = { transaction: (body: (given: typeof transaction) => unknown) => body(transaction) };
  const store = { engine, work: { post: () => {} } } as unknown as Store;
  await new RelayWork({ namespace: "app", id: "relay", claimedAt: 3000 } as ClaimedHook, store).execute(() => {});

  expect(written).toMatchObject([{ payload: '"last"', triggers: 2, triggeredAt: 2000 }]);
});

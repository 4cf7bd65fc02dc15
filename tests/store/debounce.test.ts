import { describe, expect, test } from "vitest";
import type { HookInsert } from "../../src/store/hooks/hook-records.ts";
import { DRIVERS, ENCRYPTED_SQLITE } from "../support/engines.ts";
import { COMPLETED, FAILED, LEASE_MS, RELEASED, retryAfter, useStore } from "../support/use-store.ts";

const DELAY_MS = 1000;
const MAX_WAIT_MS = 5000;
const UNBOUNDED_MS = 1e15;

describe.each([...DRIVERS, ENCRYPTED_SQLITE])("debounced triggers on $name", (engine) => {
  const fixture = useStore(engine);

  const debounced = (delayMs = DELAY_MS, maxWaitMs = MAX_WAIT_MS): Partial<HookInsert> => ({
    key: "k",
    debounce: { delayMs, maxWaitMs },
  });

  /** The hook "a" of the key, and how long from now until it is due. */
  async function start(first: Partial<HookInsert> = debounced()): Promise<void> {
    await fixture.insert({ id: "a", key: "k", ...first });
  }

  async function dueIn(): Promise<number> {
    return Number((await fixture.get("a"))?.availableAt) - fixture.clock.now();
  }

  /** Another trigger, after a while. */
  async function again(afterMs: number, trigger: Partial<HookInsert> = debounced()): Promise<number> {
    fixture.clock.advance(afterMs);
    expect(await fixture.insert({ key: "k", ...trigger })).toMatchObject({ result: "collapsed", id: "a" });
    return dueIn();
  }

  describe("while their hook is pending", () => {
    test("restart its delay, and nothing claims it at the old time", async () => {
      await start();
      expect(await dueIn()).toBe(DELAY_MS);
      expect(await again(600, { ...debounced(), payload: "2" })).toBe(DELAY_MS);
      fixture.clock.advance(DELAY_MS - 1);

      expect(await fixture.claim()).toEqual([]);
      expect(await fixture.nextWake()).toBe(1);
      fixture.clock.advance(1);
      expect(await fixture.claim()).toMatchObject([{ id: "a", payload: "2", triggers: 2, attempts: 1 }]);
    });

    test("put it off no further than the first of them may wait", async () => {
      await start();
      for (let time = 900; time <= 3600; time += 900) expect(await again(900)).toBe(DELAY_MS);

      expect(await again(900)).toBe(MAX_WAIT_MS - 4500);
      expect(await again(400)).toBe(100);
      expect(await again(600)).toBe(-500); // due by now, and no worker has claimed it
    });

    test("put it off for as long as they come, without a bound", async () => {
      await start(debounced(DELAY_MS, UNBOUNDED_MS));

      for (let count = 0; count < 20; count++)
        expect(await again(900, debounced(DELAY_MS, UNBOUNDED_MS))).toBe(DELAY_MS);
    });

    test.each([
      ["the first", 1500, UNBOUNDED_MS, 600],
      ["a later one", UNBOUNDED_MS, 1500, 600],
    ])("postpone none of them for longer than it may wait: %s", async (_, first, second, due) => {
      await start(debounced(DELAY_MS, first));
      await again(first === 1500 ? 400 : 0, debounced(DELAY_MS, second));

      expect(await again(first === 1500 ? 500 : 900)).toBe(due);
    });

    test("make it due earlier with a shorter delay", async () => {
      await start();

      expect(await again(100, debounced(200))).toBe(200);
    });

    test("never put off a trigger that isn't debounced", async () => {
      await start({ processAt: fixture.clock.now() + 1500 });

      expect(await again(500)).toBe(1000);
      expect(await again(500)).toBe(500);
      expect(await again(0, { processAt: fixture.clock.now() + 3000 })).toBe(500);
      expect(await again(0, {})).toBe(0);
      expect(await again(0)).toBe(0);
    });

    test("give way to one that isn't debounced and comes later", async () => {
      await start();

      expect(await again(100, { processAt: fixture.clock.now() + 400 })).toBe(300);
      expect(await again(200)).toBe(100);
    });

    test("wait beside one that isn't debounced and is due much later", async () => {
      await start();

      expect(await again(500, { processAt: fixture.clock.now() + 60_000 })).toBe(500);
      expect(await again(100)).toBe(DELAY_MS);
    });

    test("begin again in a hook that waits for its next attempt, with fresh attempts", async () => {
      await start();
      fixture.clock.advance(DELAY_MS);
      await fixture.settle(await fixture.claimOne(), retryAfter(300));

      expect(await again(4500)).toBe(DELAY_MS);
      expect(await again(900)).toBe(DELAY_MS);
      fixture.clock.advance(DELAY_MS);
      expect(await fixture.claim()).toMatchObject([{ id: "a", attempts: 1, triggers: 3 }]);
    });

    test("leave a trigger that isn't debounced its time in a hook that waits for its next attempt", async () => {
      await start({});
      await fixture.settle(await fixture.claimOne(), retryAfter(9000));

      expect(await again(0, { processAt: fixture.clock.now() + 700 })).toBe(700);
      expect(await again(0)).toBe(700);
    });

    test("put nothing off when they are older and come late, but wait for no longer than they may", async () => {
      await start();
      const late = (agoMs: number) => ({ ...debounced(), triggeredAt: fixture.clock.now() - agoMs });

      expect(await again(0, late(600))).toBe(DELAY_MS);
      expect(await again(0, late(MAX_WAIT_MS - 200))).toBe(200);
    });

    test("count from the time at which they were triggered, if that is known", async () => {
      await start({ ...debounced(), triggeredAt: fixture.clock.now() - 400 });
      expect(await dueIn()).toBe(600);

      expect(await again(100, { ...debounced(), triggeredAt: fixture.clock.now() - 200 })).toBe(700);
    });

    test("count once when they are sent again", async () => {
      await start();
      const second = fixture.trigger({ id: "b", ...debounced() });
      await fixture.hooks.insert([second]);
      fixture.clock.advance(500);

      expect(await fixture.hooks.insert([second])).toMatchObject([{ result: "existing", id: "a" }]);
      expect(await dueIn()).toBe(500);
    });

    test("don't put off a hook that was redriven", async () => {
      await start(debounced(DELAY_MS, UNBOUNDED_MS));
      fixture.clock.advance(DELAY_MS);
      await fixture.settle(await fixture.claimOne(), FAILED);
      await fixture.hooks.redrive(fixture.namespace, ["a"]);

      expect(await again(0)).toBe(0);
    });

    test("go together with others in one batch", async () => {
      await start();
      fixture.clock.advance(500);
      await fixture.hooks.insert([
        fixture.trigger({ id: "b", processAt: fixture.clock.now() + 70 }),
        fixture.trigger(debounced()),
        fixture.trigger({ id: "c", ...debounced(300), key: "l" }),
        fixture.trigger({ id: "d", key: "m" }),
      ]);

      expect(await dueIn()).toBe(DELAY_MS);
      const times = await Promise.all(["b", "c", "d"].map(async (id) => (await fixture.get(id))?.availableAt));
      expect(times.map((time) => Number(time) - fixture.clock.now())).toEqual([70, 300, 0]);
    });
  });

  describe("while their hook runs", () => {
    test("postpone its next run, no further than the first of them may wait", async () => {
      await start();
      fixture.clock.advance(DELAY_MS);
      const running = await fixture.claimOne();
      for (let count = 0; count < 5; count++) await again(900);
      await fixture.settle(running, COMPLETED);

      expect(await dueIn()).toBe(DELAY_MS);
      expect(await again(900)).toBe(500); // 5000 after the first trigger beside it
      fixture.clock.advance(500);
      expect(await fixture.claim()).toMatchObject([{ id: "a", triggers: 7, attempts: 1 }]);
    });

    test("never put off one beside it that isn't debounced", async () => {
      await start();
      fixture.clock.advance(DELAY_MS);
      const running = await fixture.claimOne();
      await again(0, { processAt: fixture.clock.now() + 700 });
      await again(500);
      await fixture.settle(running, COMPLETED);

      expect(await dueIn()).toBe(200);
      expect(await again(0)).toBe(200);
    });

    test("give way to one beside it that isn't debounced", async () => {
      await start();
      fixture.clock.advance(DELAY_MS);
      const running = await fixture.claimOne();
      await again(0);
      await again(100, { processAt: fixture.clock.now() + 400 });
      await again(100);
      await fixture.settle(running, COMPLETED);

      expect(await dueIn()).toBe(200);
    });

    test("wait on when its owner is lost", async () => {
      await start();
      fixture.clock.advance(DELAY_MS);
      await fixture.claimOne();
      fixture.clock.advance(LEASE_MS);
      await fixture.insert(debounced());
      const takenOver = await fixture.claimOne();
      expect(takenOver).toMatchObject({ inDoubt: true, triggers: 1 });
      await again(500);
      await fixture.settle(takenOver, retryAfter(1));

      expect(await dueIn()).toBe(DELAY_MS);
    });

    test("leave no bound behind when they are cancelled", async () => {
      await start({});
      const running = await fixture.claimOne();
      await again(0, debounced(DELAY_MS, UNBOUNDED_MS));
      await fixture.hooks.cancel(fixture.namespace, { id: "a" });
      await fixture.settle(running, RELEASED);

      expect(await again(0)).toBe(0);
    });
  });

  test("begin again when their hook is done", async () => {
    await start();
    fixture.clock.advance(DELAY_MS);
    await fixture.settle(await fixture.claimOne(), COMPLETED);

    fixture.clock.advance(MAX_WAIT_MS);
    await start();
    expect(await again(900)).toBe(DELAY_MS);
  });
});

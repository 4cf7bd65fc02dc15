import { describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { forever, recordCalls } from "./support/handlers.ts";
import { Unanswered } from "./support/unanswered.ts";
import { eventually, LEASE_MS, useHooks, warmUp, withTime } from "./support/use-hooks.ts";

const ONCE = { retries: { limit: 0 } };

describe.each(ENGINES)("a hook whose claim isn't answered on $name", (engine) => {
  const fixture = useHooks(engine);

  /** Ten hooks that may run only once, written by a process that runs nothing. */
  async function triggerTen(): Promise<void> {
    const writer = fixture.process({ greet: recordCalls<string>().definition });
    for (let n = 0; n < 10; n++) await writer.hooks.greet.trigger(`hook ${n}`, ONCE);
  }

  async function expectAllRanOnce(greet: ReturnType<typeof recordCalls<string>>): Promise<void> {
    expect(greet.payloads.toSorted()).toEqual(Array.from({ length: 10 }, (_, n) => `hook ${n}`));
    expect(greet.calls.map(({ hook }) => hook.attempts)).toEqual(Array.from({ length: 10 }, () => 1));
  }

  test("is given back within its lease, and runs as if it had never been claimed", async () => {
    await triggerTen();
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition });
    const claims = new Unanswered(process.store.hooks.statements, "claim", 3);
    const start = fixture.clock.now();
    process.start();
    await withTime(fixture.clock, async () => expect((await process.durableHooks.list()).hooks).toEqual([]));

    expect(claims.lost).toBe(3);
    expect(fixture.clock.now() - start).toBeLessThan(LEASE_MS);
    await expectAllRanOnce(greet);
  });

  test("is given back when the claim is done long after it was given up", async () => {
    await triggerTen();
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition });
    const claims = new Unanswered(process.store.hooks.statements, "claim").abandon();
    process.start();
    await eventually(() => expect(claims.lost).toBe(1));
    await fixture.clock.advanceAndSettle(15_000);
    claims.end();
    await claims.finish();
    expect((await process.durableHooks.statistics()).processing).toBe(10);
    const start = fixture.clock.now();
    await withTime(fixture.clock, async () => expect((await process.durableHooks.list()).hooks).toEqual([]));

    expect(fixture.clock.now() - start).toBeLessThan(LEASE_MS);
    await expectAllRanOnce(greet);
  });

  test("runs in another process when its owner is cut off for longer than the lease, even if it may run only once", async () => {
    await triggerTen();
    const cutOff = recordCalls<string>();
    const owner = fixture.process({ greet: cutOff.definition });
    const claims = new Unanswered(owner.store.hooks.statements, "claim");
    const looks = new Unanswered(owner.store.hooks.statements, "findLeased");
    owner.start();
    await eventually(() => expect(claims.lost).toBe(1));
    await fixture.clock.advanceAndSettle(LEASE_MS);
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition });
    process.start();
    await withTime(fixture.clock, async () => expect((await process.durableHooks.list()).hooks).toEqual([]));

    for (const cut of [claims, looks]) cut.end();
    await expectAllRanOnce(greet);
    expect(cutOff.calls).toEqual([]);
  });

  test("loses no second attempt to owners that were lost before they could begin", async () => {
    const writer = fixture.process({ greet: recordCalls<string>().definition });
    await writer.hooks.greet.trigger("ada", { retries: { limit: 1 } });
    for (let losses = 0; losses < 4; losses++) {
      const owner = fixture.process({ greet: recordCalls<string>().definition }, { clock: fixture.anotherClock() });
      const claims = new Unanswered(owner.store.hooks.statements, "claim");
      new Unanswered(owner.store.hooks.statements, "findLeased");
      owner.start();
      await eventually(() => expect(claims.lost).toBeGreaterThan(0));
      await fixture.clock.advanceAndSettle(LEASE_MS);
    }
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition });
    await process.drain();

    expect(greet.calls.map(({ hook }) => hook.attempts)).toEqual([2]);
    expect((await process.durableHooks.list()).hooks).toEqual([]);
  });

  test("is a dead letter, and doesn't run again, if its owner was lost after it had begun its only attempt", async () => {
    const lost = recordCalls<string>(() => forever());
    const dying = fixture.process({ greet: lost.definition }, { clock: fixture.anotherClock() });
    const { id } = await dying.hooks.greet.trigger("ada", ONCE);
    dying.drainBehind();
    await eventually(() => expect(lost.calls).toHaveLength(1));
    await fixture.clock.advanceAndSettle(LEASE_MS);
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition });
    await process.drain();

    expect(greet.calls).toEqual([]);
    expect(await process.durableHooks.get(id)).toMatchObject({ status: "failed", error: { code: "hook.crash_loop" } });
  });

  test("runs soon and uncounted when the answer to its trigger never comes", async () => {
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition });
    process.start();
    await warmUp(process, greet);
    const inserts = new Unanswered(process.store.hooks.statements, "insert");
    let outcome = "open";
    process.hooks.greet.trigger("ada", ONCE).then(
      () => {
        outcome = "accepted";
      },
      () => {
        outcome = "unknown";
      },
    );
    await withTime(fixture.clock, () => expect(outcome).toBe("unknown"));
    inserts.end();
    await withTime(fixture.clock, () => expect(greet.payloads.at(-1)).toBe("ada"));

    expect(greet.calls.at(-1)?.hook.attempts).toBe(1);
    await withTime(fixture.clock, async () => expect((await process.durableHooks.list()).hooks).toEqual([]));
  });
});

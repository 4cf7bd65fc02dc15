import { Client } from "pg";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { DurableHooks } from "../../src/hooks/durable-hooks.ts";
import { recordCalls } from "../hooks/support/handlers.ts";
import { useHooks } from "../hooks/support/use-hooks.ts";
import { ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";

const CONCURRENCY = 3;
const BACKLOG = 20;

describe.each(ENGINES)("claims on $name", (engine) => {
  const under = useHooks(engine);

  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** A hook whose handlers run until the test ends the oldest of them. */
  function recordHeld() {
    const held: (() => void)[] = [];
    const greet = recordCalls<number>(() => new Promise<void>((resolve) => held.push(resolve)));
    return { greet, held };
  }

  /** Ends one handler after the other, and looks each time how many run and how many rows are taken. */
  async function endOneByOne(hooks: DurableHooks, held: (() => void)[], total: number): Promise<void> {
    for (let left = total; left > 0; left--) {
      const expected = Math.min(CONCURRENCY, left);
      await waitUntil(`${expected} handlers ran`, () => held.length >= expected);
      await waitUntil("the last outcome was written", async () => {
        const { processing, pending } = await hooks.statistics();
        expect(processing).toBeLessThanOrEqual(expected + 1); // one may be on its way out
        return processing === expected && pending === left - expected;
      });
      expect(held).toHaveLength(expected);
      held.shift()?.();
    }
  }

  test("take a backlog piece by piece, never more than there are places", async () => {
    const { greet, held } = recordHeld();
    const process = under.process({ greet: greet.definition }, { concurrency: CONCURRENCY });
    const claim = vi.spyOn(process.store.hooks.statements, "claim");
    for (let number = 0; number < BACKLOG; number++) await process.hooks.greet.trigger(number);
    process.start();
    await endOneByOne(process.durableHooks, held, BACKLOG);

    for (const [{ limit }] of claim.mock.calls) expect(limit).toBeLessThanOrEqual(CONCURRENCY);
    expect(greet.payloads.toSorted((a, b) => a - b)).toEqual(Array.from({ length: BACKLOG }, (_, number) => number));
  });

  test("leave no room for others when this process claims the hooks that it triggers", async () => {
    const { greet, held } = recordHeld();
    const process = under.process({ greet: greet.definition }, { concurrency: CONCURRENCY });
    process.start();
    await Promise.all(Array.from({ length: BACKLOG }, (_, number) => process.hooks.greet.trigger(number)));
    await under.clock.advanceAndSettle(1000); // rows of a claim that has lent its slots are released after a second
    await endOneByOne(process.durableHooks, held, BACKLOG);
  });

  test("aren't made while all places are taken", async () => {
    const { greet, held } = recordHeld();
    const process = under.process({ greet: greet.definition }, { concurrency: CONCURRENCY });
    for (let number = 0; number < BACKLOG; number++) await process.hooks.greet.trigger(number);
    process.start();
    await waitUntil("all places were taken", () => held.length === CONCURRENCY);
    const claim = vi.spyOn(process.store.hooks.statements, "claim");
    await process.hooks.greet.trigger(BACKLOG);
    process.dispatcher.wake();
    await under.clock.advanceAndSettle(5000);

    expect(claim).not.toHaveBeenCalled();
  });

  test("go to both of two dispatchers that share a process and a database", async () => {
    const { greet, held } = recordHeld();
    const process = under.process({ greet: greet.definition }, { concurrency: 1 });
    const other = under.process({ greet: greet.definition }, { concurrency: 1, adapter: process.adapter });
    process.start();
    other.start();
    for (let number = 0; number < 3; number++) await process.hooks.greet.trigger(number);
    await waitUntil("one ran in each", () => held.length === 2);

    expect(await process.durableHooks.statistics()).toMatchObject({ processing: 2, pending: 1 });
    while (greet.calls.length < 3 || held.length > 0) {
      held.shift()?.();
      await waitUntil("it went on", () => held.length > 0 || greet.calls.length === 3);
    }
  });
});

describe("a row that is due and locked by another transaction", () => {
  const under = useHooks(ENGINES.find(({ dialect }) => dialect === "postgres") as (typeof ENGINES)[number]);

  test("is asked for with growing pauses, and taken when it is free", async () => {
    const greet = recordCalls<string>();
    const process = under.process({ greet: greet.definition });
    const { id } = await process.hooks.greet.trigger("ada");
    const client = new Client({ connectionString: under.database?.location });
    await client.connect();
    try {
      await client.query("begin");
      await client.query("select from perdure.hook where id = $1 for update", [id]);
      const claim = vi.spyOn(process.store.hooks.statements, "claim");
      const nextWake = vi.spyOn(process.store.hooks.statements, "nextWake");
      process.start();
      // One of them comes without a pause: when the process begins to listen, it looks at once.
      for (let claims = 1; claims <= 9; claims++) {
        await waitUntil(`claim ${claims} and its question were over`, async () => {
          await under.clock.advanceAndSettle(50);
          return claim.mock.settledResults.length >= claims && nextWake.mock.settledResults.length >= claims;
        });
      }
      // 50 + 100 + 200 + … milliseconds, and at least half of each.
      expect(under.clock.monotonic()).toBeGreaterThan((50 + 100 + 200 + 400 + 800 + 1600 + 3200) / 2);
      await client.query("rollback");
    } finally {
      await client.end();
    }
    await under.clock.advanceAndSettle(5000);
    await waitUntil("it ran", () => greet.calls.length === 1);
  });
});

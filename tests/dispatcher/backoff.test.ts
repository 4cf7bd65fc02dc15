import { afterEach, describe, expect, test, vi } from "vitest";
import { StoreError } from "../../src/errors.ts";
import type { Store } from "../../src/store/store.ts";
import { recordCalls } from "../hooks/support/handlers.ts";
import { useHooks } from "../hooks/support/use-hooks.ts";
import { ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";

/** The pauses double, up to five seconds, and are at least half as long as that: a minute has room for about thirty. */
const MOST_TRIES_A_MINUTE = 40;
const MINUTE_MS = 60_000;

describe.each(ENGINES)("a dispatcher that gets nothing from its database on $name", (engine) => {
  const under = useHooks(engine);

  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** The database is away for dispatchers; gives how often they have asked. */
  function takeAway(store: Store): { asked: number } {
    const count = { asked: 0 };
    const fail = async (): Promise<never> => {
      count.asked++;
      throw new StoreError("store.unavailable", "away", { transient: true });
    };
    for (const method of ["claim", "nextWake", "leaseTokens", "expireLeases", "purge"] as const) {
      vi.spyOn(store.hooks.statements, method).mockImplementation(fail);
    }
    return count;
  }

  /** A minute in steps, so that whatever one step sets off is over before the next. */
  async function passMinute(): Promise<void> {
    for (let passed = 0; passed < MINUTE_MS; passed += 100) await under.clock.advanceAndSettle(100);
  }

  test("asks again after pauses that grow, reports each time, and continues when it is back", async () => {
    const greet = recordCalls<string>();
    const process = under.process({ greet: greet.definition });
    const count = takeAway(process.store);
    process.start();
    await passMinute();

    expect(count.asked).toBeGreaterThan(10);
    expect(count.asked).toBeLessThan(MOST_TRIES_A_MINUTE);
    expect(process.errors).toHaveLength(count.asked);
    for (const { error, attempt } of process.errors) {
      expect(error).toMatchObject({ code: "store.unavailable" });
      expect(attempt).toBeNull();
    }

    vi.restoreAllMocks();
    await process.hooks.greet.trigger("ada");
    await under.clock.advanceAndSettle(5000);
    await waitUntil("it ran", () => greet.calls.length === 1);
  });

  test("that was idle when it went away asks no more often", async () => {
    const process = under.process({ greet: recordCalls<string>().definition });
    const nextWake = vi.spyOn(process.store.hooks.statements, "nextWake");
    process.start();
    await waitUntil("it was idle", () => nextWake.mock.settledResults.some(({ type }) => type === "fulfilled"));
    const count = takeAway(process.store);
    await passMinute();

    expect(count.asked).toBeGreaterThan(0);
    expect(count.asked).toBeLessThan(MOST_TRIES_A_MINUTE);
  });
});

import { afterEach, describe, expect, test, vi } from "vitest";
import { createDurableHooksDispatcher } from "../../src/dispatchers/node.ts";
import { StoreError } from "../../src/errors.ts";
import { Gate, recordCalls } from "../hooks/support/handlers.ts";
import { useHooks } from "../hooks/support/use-hooks.ts";
import { ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";

const HOUR_MS = 3_600_000;

describe.each(ENGINES)("drain on $name", (engine) => {
  const under = useHooks(engine);

  afterEach(() => {
    vi.restoreAllMocks();
  });

  test("runs everything that is due, and what that triggers, then returns", async () => {
    const greet = recordCalls<number>(async (number) => {
      if (number < 5) await process.hooks.greet.trigger(number + 100);
    });
    const process = under.process({ greet: greet.definition }, { concurrency: 2 });
    for (let number = 0; number < 20; number++) await process.hooks.greet.trigger(number);
    await process.hooks.greet.trigger(-1, { processAt: under.clock.now() + HOUR_MS });
    await process.drain();

    expect(greet.payloads.toSorted((a, b) => a - b)).toEqual([
      ...Array.from({ length: 20 }, (_, number) => number),
      ...[100, 101, 102, 103, 104],
    ]);
    expect(await process.durableHooks.statistics()).toMatchObject({ pending: 1, processing: 0 });
    expect(await process.processor.getNextWakeAt()).toEqual(new Date(under.clock.now() + HOUR_MS));
  });

  test("returns at once when nothing is due", async () => {
    const process = under.process({ greet: recordCalls<string>().definition });
    await process.drain();

    expect(await process.processor.getNextWakeAt()).toBeNull();
  });

  test("runs what a running handler triggers and waits for", async () => {
    const done = new Gate();
    const wait = recordCalls<string>(async (name) => {
      await process.hooks.greet.trigger(name);
      await done.opened;
    });
    const greet = recordCalls<string>(() => done.open());
    const process = under.process({ wait: wait.definition, greet: greet.definition });
    await process.hooks.wait.trigger("ada");
    await process.drain();

    expect(greet.payloads).toEqual(["ada"]);
    expect(await process.durableHooks.statistics()).toMatchObject({ pending: 0, processing: 0 });
  });

  test("runs what is triggered while it looks for the last time", async () => {
    const greet = recordCalls<string>();
    const process = under.process({ greet: greet.definition });
    const { statements } = process.store.hooks;
    const claim = statements.claim.bind(statements);
    vi.spyOn(statements, "claim").mockImplementationOnce(async (request) => {
      const claimed = await claim(request);
      await process.hooks.greet.trigger("ada");
      return claimed;
    });
    await process.drain();

    expect(greet.payloads).toEqual(["ada"]);
  });

  test("doesn't listen to other processes", async () => {
    const process = under.process({ greet: recordCalls<string>().definition });
    const subscribe = vi.spyOn(process.store.engine.wakeups, "subscribe");
    await process.hooks.greet.trigger("ada");
    await process.drain();

    expect(subscribe).not.toHaveBeenCalled();
  });

  test("leaves what is due later to other processes, and notifies them", async () => {
    const later = { processAt: under.clock.now() + 10_000 };
    const greet = recordCalls<string>(async () => {
      const announce = vi.spyOn(process.adapter.store.engine.wakeups, "announce");
      await process.hooks.greet.trigger("bob", later);
      announced.push(...announce.mock.calls.flat());
    });
    const announced: string[] = [];
    const process = under.process({ greet: greet.definition });
    await process.hooks.greet.trigger("ada");
    await process.drain();

    expect(announced).toEqual([under.namespace]);
    expect(greet.payloads).toEqual(["ada"]);
  });

  test("doesn't wait for retries that are due later", async () => {
    const greet = recordCalls<string>(
      () => {
        throw new Error("no");
      },
      { retries: { delay: "1 minute", backoff: "constant" } },
    );
    const process = under.process({ greet: greet.definition });
    await process.hooks.greet.trigger("ada");
    await process.drain();

    expect(greet.calls).toHaveLength(1);
    expect(await process.processor.getNextWakeAt()).toEqual(new Date(under.clock.now() + 60_000));
  });

  test("hands back at the deadline what still runs, uncounted, and starts nothing more", async () => {
    const greet = recordCalls<string>(() => new Promise(() => {}));
    const process = under.process({ greet: greet.definition }, { concurrency: 1 });
    const first = await process.hooks.greet.trigger("ada");
    const second = await process.hooks.greet.trigger("bob");
    const drained = process.dispatcher.drain({ deadlineMs: 5000 });
    await waitUntil("the first ran", () => greet.calls.length === 1);
    await under.clock.advanceAndSettle(5000);
    await drained;

    expect(greet.payloads).toEqual(["ada"]);
    expect(greet.calls[0]?.hook.signal.aborted).toBe(true);
    for (const { id } of [first, second]) {
      expect(await process.durableHooks.get(id)).toMatchObject({ status: "pending", attempts: 0 });
    }
  });

  test("can be called again and again, and beside a dispatcher that polls", async () => {
    const greet = recordCalls<string>();
    const process = under.process({ greet: greet.definition });
    process.start();
    await Promise.all([process.drain(), process.hooks.greet.trigger("ada"), process.drain()]);
    await process.drain();
    await waitUntil("it ran", () => greet.calls.length > 0);

    expect(greet.payloads).toEqual(["ada"]);
  });

  test("reports an unavailable database after it has waited for running work", async () => {
    const gate = new Gate();
    const greet = recordCalls<string>(() => gate.opened);
    const process = under.process({ greet: greet.definition }, { concurrency: 2 });
    await process.hooks.greet.trigger("ada");
    const { statements } = process.store.hooks;
    const claim = statements.claim.bind(statements);
    const away = new StoreError("store.unavailable", "away", { transient: true });
    vi.spyOn(statements, "claim").mockImplementationOnce(claim).mockRejectedValue(away);
    const drained = process.drain().catch((error: unknown) => error);
    await waitUntil("it ran", () => greet.calls.length === 1);
    gate.open();

    expect(await drained).toBe(away);
    expect(await process.durableHooks.statistics()).toMatchObject({ pending: 0, processing: 0 });
  });

  test("refuses a deadline that isn't one", async () => {
    const { processor } = under.process({ greet: recordCalls<string>().definition });
    const dispatcher = createDurableHooksDispatcher({ processor });

    for (const deadlineMs of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      await expect(dispatcher.drain({ deadlineMs })).rejects.toMatchObject({ code: "options.invalid" });
    }
  });
});

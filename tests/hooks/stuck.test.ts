import { describe, expect, test } from "vitest";
import type { StuckHooksReport } from "../../src/hooks/hook-settings.ts";
import { ENGINES } from "../support/engines.ts";
import { forever, Gate, recordCalls } from "./support/handlers.ts";
import { eventually, LEASE_MS, useHooks, withTime } from "./support/use-hooks.ts";

const MINUTE = 60_000;
/** Six seconds: the lease needs no renewal meanwhile. */
const SHORT = 0.1;
const QUICK = { retries: { delay: 1000, backoff: "constant", limit: 3 } } as const;

describe.each(ENGINES)("handlers that hang, on $name", (engine) => {
  const fixture = useHooks(engine);

  test("are told to stop after ten minutes by default, and their hook is queued again", async () => {
    const greet = recordCalls<string>((_, hook) => (hook.attempts === 1 ? forever() : undefined), QUICK);
    const process = fixture.process({ greet: greet.definition });
    process.start();
    const { id } = await process.hooks.greet.trigger("ada");
    await eventually(() => expect(greet.calls).toHaveLength(1));

    await process.passTime(10 * MINUTE - 1);
    expect(greet.calls[0]?.hook.signal.aborted).toBe(false);
    expect(await process.statusOf(id)).toBe("processing");
    await fixture.clock.advanceAndSettle(1);

    expect(greet.calls[0]?.hook.signal.reason).toMatchObject({
      name: "AttemptAbortedError",
      code: "hook.stuck",
      message: "The handler didn't end within 10 minutes.",
    });
    await eventually(async () => {
      const hook = await process.durableHooks.get(id);
      expect(hook).toMatchObject({ status: "pending", attempts: 1, error: { code: "hook.stuck" } });
      expect(hook?.availableAt).toEqual(new Date(fixture.clock.now() + 1000));
    });
    await withTime(fixture.clock, async () => expect(await process.statusOf(id)).toBeNull());
    expect(greet.calls.map(({ hook }) => hook.attempts)).toEqual([1, 2]);
  });

  test("are let alone for as long as they like if the time-out is off", async () => {
    const gate = new Gate();
    const greet = recordCalls<string>(() => gate.opened);
    const durableHooks = { stuckProcessingTimeoutMinutes: false } as const;
    const process = fixture.process({ greet: greet.definition }, { durableHooks });
    const { id } = await process.hooks.greet.trigger("ada");
    const drained = process.drain();
    await eventually(() => expect(greet.calls).toHaveLength(1));

    await process.passTime(30 * MINUTE);
    expect(greet.calls[0]?.hook.signal.aborted).toBe(false);
    gate.open();
    await drained;

    expect(greet.calls).toHaveLength(1);
    expect(await process.statusOf(id)).toBeNull();
  });

  test("are reported after their hook is queued again", async () => {
    const reports: StuckHooksReport[] = [];
    const statuses: Promise<string | null>[] = [];
    const greet = recordCalls<string>(() => forever(), QUICK);
    const process = fixture.process(
      { greet: greet.definition },
      {
        durableHooks: {
          stuckProcessingTimeoutMinutes: SHORT,
          onStuckProcessingHooks: (report) => {
            reports.push(report);
            statuses.push(...report.events.map(({ hookId }) => process.statusOf(hookId)));
          },
        },
      },
    );
    const { id } = await process.hooks.greet.trigger("ada");
    const drained = process.drain();
    await eventually(() => expect(greet.calls).toHaveLength(1));
    await fixture.clock.advanceAndSettle(SHORT * MINUTE);
    await drained;

    expect(reports).toEqual([
      {
        namespace: fixture.namespace,
        timeoutMinutes: SHORT,
        events: [{ hookId: id, hookName: "greet", attempts: 1, reason: "timeout" }],
      },
    ]);
    expect(await Promise.all(statuses)).toEqual(["pending"]);
    expect(process.errors).toMatchObject([{ error: { code: "hook.stuck" }, attempt: { attempt: 1, final: false } }]);
  });

  test("are logged if the application has no listener", async () => {
    const greet = recordCalls<string>(() => forever(), QUICK);
    const durableHooks = { stuckProcessingTimeoutMinutes: SHORT };
    const process = fixture.process({ greet: greet.definition }, { durableHooks });
    const { id } = await process.hooks.greet.trigger("ada");
    const drained = process.drain();
    await eventually(() => expect(greet.calls).toHaveLength(1));
    await fixture.clock.advanceAndSettle(SHORT * MINUTE);
    await drained;

    expect(process.logs.lines).toEqual([
      { level: "warn", message: "Queued stuck hooks again.", details: { namespace: fixture.namespace, hooks: [id] } },
    ]);
  });

  test.each([
    [
      "throws",
      () => {
        throw new Error("oops");
      },
    ],
    ["rejects", () => Promise.reject(new Error("oops"))],
  ])("do no harm when the callback %s", async (_, onStuckProcessingHooks) => {
    const greet = recordCalls<string>((_name, hook) => (hook.attempts === 1 ? forever() : undefined), QUICK);
    const durableHooks = { stuckProcessingTimeoutMinutes: SHORT, onStuckProcessingHooks };
    const process = fixture.process({ greet: greet.definition }, { durableHooks });
    process.start();
    const { id } = await process.hooks.greet.trigger("ada");
    await eventually(() => expect(greet.calls).toHaveLength(1));
    await fixture.clock.advanceAndSettle(SHORT * MINUTE);

    await withTime(fixture.clock, async () => expect(await process.statusOf(id)).toBeNull());
    expect(greet.calls).toHaveLength(2);
    await eventually(() => expect(process.logs.messages("error")).toEqual(["onStuckProcessingHooks threw."]));
  });

  test.each([
    ["succeed", () => {}],
    ["fail", () => Promise.reject(new Error("too late"))],
  ])("are not listened to any more when they %s in the end", async (_, end) => {
    const gate = new Gate();
    const again = new Gate();
    const greet = recordCalls<string>(async (_name, hook) => {
      if (hook.attempts > 1) return again.opened;
      await gate.opened;
      await end();
    }, QUICK);
    const durableHooks = { stuckProcessingTimeoutMinutes: SHORT };
    const process = fixture.process({ greet: greet.definition }, { durableHooks });
    process.start();
    const { id } = await process.hooks.greet.trigger("ada");
    await eventually(() => expect(greet.calls).toHaveLength(1));
    await fixture.clock.advanceAndSettle(SHORT * MINUTE);
    await withTime(fixture.clock, () => expect(greet.calls).toHaveLength(2));

    gate.open();
    await fixture.clock.advanceAndSettle(1000);
    expect(await process.durableHooks.get(id)).toMatchObject({ status: "processing", attempts: 2 });
    again.open();
    await eventually(async () => expect(await process.statusOf(id)).toBeNull());
    expect(process.errors).toHaveLength(1);
  });

  test("free their slots for other hooks", async () => {
    const greet = recordCalls<string>((name) => (name === "ada" ? forever() : undefined), QUICK);
    const durableHooks = { stuckProcessingTimeoutMinutes: SHORT };
    const process = fixture.process({ greet: greet.definition }, { durableHooks, concurrency: 1 });
    process.start();
    await process.hooks.greet.trigger("ada");
    await eventually(() => expect(greet.payloads).toEqual(["ada"]));
    await process.hooks.greet.trigger("bob");
    await fixture.clock.advanceAndSettle(SHORT * MINUTE);

    await eventually(() => expect(greet.payloads).toEqual(["ada", "bob"]));
  });

  test("end as a dead letter when they hang in every attempt", async () => {
    const reports: StuckHooksReport[] = [];
    const greet = recordCalls<string>(() => forever(), { retries: { limit: 1, delay: 0 } });
    const durableHooks = {
      stuckProcessingTimeoutMinutes: SHORT,
      onStuckProcessingHooks: (report: StuckHooksReport) => reports.push(report),
    };
    const process = fixture.process({ greet: greet.definition }, { durableHooks });
    const { id } = await process.hooks.greet.trigger("ada");
    const drained = process.drain();
    for (const attempts of [1, 2]) {
      await eventually(() => expect(greet.calls).toHaveLength(attempts));
      await fixture.clock.advanceAndSettle(SHORT * MINUTE);
    }
    await drained;

    expect(await process.durableHooks.get(id)).toMatchObject({
      status: "failed",
      attempts: 2,
      error: { code: "hook.stuck" },
    });
    expect(reports.flatMap(({ events }) => events.map(({ attempts }) => attempts))).toEqual([1, 2]);
  });

  test("are not confused with handlers that throw nothing at all", async () => {
    const reports: StuckHooksReport[] = [];
    const greet = recordCalls<string>(() => Promise.reject(), { retries: { limit: 0 } });
    const onStuckProcessingHooks = (report: StuckHooksReport) => reports.push(report);
    const process = fixture.process({ greet: greet.definition }, { durableHooks: { onStuckProcessingHooks } });
    await process.hooks.greet.trigger("ada");
    await process.drain();

    expect(reports).toEqual([]);
  });

  test.each([
    ["with the time-out", SHORT],
    ["with false, if the time-out is off", false],
  ] as const)("are reported %s when their process was lost", async (_, stuckProcessingTimeoutMinutes) => {
    const reports: StuckHooksReport[] = [];
    const lost = recordCalls<string>(() => forever());
    const dead = fixture.process({ greet: lost.definition }, { clock: fixture.anotherClock() });
    const { id } = await dead.hooks.greet.trigger("ada");
    dead.drainBehind();
    await eventually(() => expect(lost.calls).toHaveLength(1));

    const greet = recordCalls<string>();
    const onStuckProcessingHooks = (report: StuckHooksReport) => reports.push(report);
    const durableHooks = { stuckProcessingTimeoutMinutes, onStuckProcessingHooks };
    const process = fixture.process({ greet: greet.definition }, { durableHooks });
    await fixture.clock.advanceAndSettle(LEASE_MS);
    await process.drain();

    expect(greet.payloads).toEqual(["ada"]);
    expect(reports).toEqual([
      {
        namespace: fixture.namespace,
        timeoutMinutes: stuckProcessingTimeoutMinutes,
        events: [{ hookId: id, hookName: "greet", attempts: 2, reason: "lost" }],
      },
    ]);
  });
});

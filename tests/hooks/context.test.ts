import { describe, expect, test } from "vitest";
import type { TraceContext } from "../../src/monitoring/tracing.ts";
import { ENGINES } from "../support/engines.ts";
import { recordCalls } from "./support/handlers.ts";
import { eventually, useHooks } from "./support/use-hooks.ts";

const SECOND = 1000;

describe.each(ENGINES)("the context of a hook on $name", (engine) => {
  const fixture = useHooks(engine);

  test.each(["claimed", "started where it was triggered"])("tells a first attempt all about it: %s", async (way) => {
    const greet = recordCalls<string>(undefined, { retries: { limit: 4 } });
    const process = fixture.process({ greet: greet.definition });
    if (way !== "claimed") process.start();
    const { id } = await process.hooks.greet.trigger("ada");
    const now = new Date(fixture.clock.now());
    if (way === "claimed") await process.drain();
    await eventually(() => expect(greet.calls).toHaveLength(1));

    const { signal, ...context } = { ...greet.calls[0]?.hook };
    expect(context).toEqual({
      hookId: id,
      hookName: "greet",
      namespace: fixture.namespace,
      idempotencyKey: `${id}:1`,
      status: "processing",
      attempts: 1,
      maxAttempts: 5,
      createdAt: now,
      lastAttemptAt: null,
      nextRetryAt: null,
      processAt: now,
      traceContext: null,
    });
    expect(signal).toBeInstanceOf(AbortSignal);
    expect(signal?.aborted).toBe(false);
  });

  test("tells a scheduled hook for when it was scheduled, and when it was triggered", async () => {
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition });
    const createdAt = new Date(fixture.clock.now());
    const processAt = new Date(fixture.clock.now() + 60 * SECOND);
    await process.hooks.greet.trigger("ada", { processAt });
    await fixture.clock.advanceAndSettle(90 * SECOND);
    await process.drain();

    expect(greet.calls[0]?.hook).toMatchObject({ createdAt, processAt, nextRetryAt: null, lastAttemptAt: null });
  });

  test("tells a retry when the attempt before it began, and for when it was scheduled", async () => {
    const greet = recordCalls<string>((_, hook) => hook.attempts < 3 && Promise.reject("no"), {
      retries: { delay: 5 * SECOND, backoff: "constant" },
    });
    const process = fixture.process({ greet: greet.definition });
    const start = fixture.clock.now();
    await process.hooks.greet.trigger("ada");
    for (let attempt = 0; attempt < 3; attempt++) {
      await process.drain();
      await fixture.clock.advanceAndSettle(7 * SECOND);
    }

    const at = (seconds: number) => new Date(start + seconds * SECOND);
    expect(
      greet.calls.map(({ hook }) => [hook.attempts, hook.lastAttemptAt, hook.nextRetryAt, hook.processAt]),
    ).toEqual([
      [1, null, null, at(0)],
      [2, at(0), at(5), at(5)],
      [3, at(7), at(12), at(12)],
    ]);
    expect(new Set(greet.calls.map(({ hook }) => hook.createdAt.getTime()))).toEqual(new Set([start]));
  });

  test("carries the trace of the trigger", async () => {
    const traces: (TraceContext | null | undefined)[] = [
      { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "vendor=1" },
      null,
      undefined,
    ];
    const expected = traces.map((trace) => trace ?? null);
    const greet = recordCalls<number>();
    const captureTraceContext = () => traces.shift();
    const process = fixture.process({ greet: greet.definition }, { durableHooks: { captureTraceContext } });
    for (const number of [0, 1, 2]) await process.hooks.greet.trigger(number);
    await process.drain();

    const inOrder = greet.calls.toSorted((left, right) => left.payload - right.payload);
    expect(inOrder.map(({ hook }) => hook.traceContext)).toEqual(expected);
  });

  test("gives the same signal whenever it is asked", async () => {
    const greet = recordCalls<string>((_, hook) => expect(hook.signal).toBe(hook.signal));
    const process = fixture.process({ greet: greet.definition });
    await process.hooks.greet.trigger("ada");
    await process.drain();

    expect(greet.calls).toHaveLength(1);
    expect(process.errors).toEqual([]);
  });
});

import { describe, expect, test } from "vitest";
import { StoreError } from "../../src/errors.ts";
import { Meter } from "../../src/monitoring/meters/meter.ts";
import type { ProcessorSource } from "../../src/queue/processor.ts";
import { SourceLoop } from "../../src/queue/source-loop.ts";
import type { WorkClaim } from "../../src/queue/work.ts";
import { Worker } from "../../src/queue/worker.ts";
import { Rounds } from "../../src/store/queue/rounds.ts";
import { ControlledClock } from "../support/controlled-clock.ts";

const ignore = () => {};

function createWorker(clock: ControlledClock): Worker {
  const onError = (error: unknown) => {
    throw error;
  };
  const told = { onRoom: ignore, onTakeOver: ignore, onFailure: ignore, onError };
  return new Worker({ clock, concurrency: 2, leaseMs: 30_000, nextToken: () => "token", ...told });
}

/** A source that has nothing, whose loop asks for the next wake when the test says. */
function createLoop(
  clock: ControlledClock,
  worker: Worker,
  { claim = async () => [], nextWake }: Partial<ProcessorSource>,
) {
  const claims: WorkClaim[] = [];
  const announced: string[] = [];
  const announce = (namespace: string) => announced.push(namespace);
  const source = {
    kind: "instance",
    needsRoom: true,
    namespaces: ["n"],
    store: { rounds: new Rounds(clock), meter: new Meter(clock), work: { connected: true, announce } },
    claim: (request: WorkClaim) => {
      claims.push(request);
      return claim(request);
    },
    nextWake,
    purge: async () => false,
  } as unknown as ProcessorSource;
  const errors: unknown[] = [];
  const onError = (error: unknown) => {
    if (!(error instanceof StoreError)) throw error;
    errors.push(error);
  };
  const randomness = { fraction: () => 0.5 } as never;
  const parts = { worker, clock, randomness, pollIntervalMs: 2000, heartbeat: null, onServed: ignore, onError };
  return { claims, announced, errors, loop: new SourceLoop({ source, ...parts }) };
}

describe("the loop of a source", () => {
  test("claims what is due soon, though the claim of another loop had reserved all slots when it went to sleep", async () => {
    const clock = new ControlledClock();
    const worker = createWorker(clock);
    let answerOther: () => void = ignore;
    const other = createLoop(clock, worker, {
      claim: () =>
        new Promise((resolve) => {
          answerOther = () => resolve([]);
        }),
    });
    let due: number | null = 100;
    const { claims, loop } = createLoop(clock, worker, {
      nextWake: async () => {
        if (claims.length === 1) void worker.fill(other.loop.source);
        const answer = due;
        due = null;
        return answer;
      },
    });
    loop.start();
    await clock.advanceAndSettle(50);
    expect(other.claims).toHaveLength(1);
    answerOther();
    await clock.advanceAndSettle(100);
    expect(claims).toHaveLength(2);
    await Promise.all([loop.stop(), worker.stop(0)]);
  });

  test("tells other processes about announced work that it hasn't claimed when it stops", async () => {
    const clock = new ControlledClock();
    const worker = createWorker(clock);
    const idle = createLoop(clock, worker, { nextWake: async () => null });
    const told = createLoop(clock, worker, { nextWake: async () => null });
    for (const { loop } of [idle, told]) loop.start();
    await clock.advanceAndSettle(1000);
    told.loop.notice(0);
    await Promise.all([idle.loop.stop(), told.loop.stop(), worker.stop(0)]);
    expect(told.announced).toEqual(["n"]);
    expect(idle.announced).toEqual([]);
  });

  test("takes nothing over while its database can't be used, nor soon after: owners may still have outcomes to write", async () => {
    const clock = new ControlledClock();
    const worker = createWorker(clock);
    let usable = true;
    const whenUsable = async <Answer>(answer: Answer) => {
      if (!usable) throw new StoreError("store.unavailable", "away", { transient: true });
      return answer;
    };
    const { claims, loop, errors } = createLoop(clock, worker, {
      claim: () => whenUsable([]),
      nextWake: ({ takeOver }) => whenUsable(takeOver ? 60_000 : null),
    });
    loop.start();
    await clock.advanceAndSettle(0);
    expect(claims).toMatchObject([{ takeOver: true }]);
    usable = false;
    loop.wake();
    await clock.advanceAndSettle(60_000);
    expect(claims.length).toBeGreaterThan(2);
    expect(errors.length).toBe(claims.length - 1);
    claims.length = 0;
    usable = true;
    loop.wake();
    await clock.advanceAndSettle(0);
    loop.wake();
    await clock.advanceAndSettle(5900);
    expect(claims).toMatchObject([{ takeOver: false }, { takeOver: false }]);
    await clock.advanceAndSettle(200);
    expect(claims).toMatchObject([{ takeOver: false }, { takeOver: false }, { takeOver: true }]);
    await Promise.all([loop.stop(), worker.stop(0)]);
  });
});

import { describe, expect, test } from "vitest";
import { pause, systemClock } from "./clock.ts";
import { ControlledClock, settle } from "./testing/controlled-clock.ts";

describe("a pause", () => {
  test("ends after its time", async () => {
    const clock = new ControlledClock();
    let ended = false;
    const paused = pause(clock, 100).then(() => {
      ended = true;
    });
    await clock.advanceAndSettle(99);
    expect(ended).toBe(false);
    clock.advance(1);
    await paused;
  });

  test("ends when it is aborted, and leaves no timer", async () => {
    const clock = new ControlledClock();
    const aborter = new AbortController();
    const paused = pause(clock, 100, aborter.signal);
    aborter.abort();

    await expect(paused).resolves.toBeUndefined();
    expect(clock.timers).toBe(0);
  });

  test("doesn't begin when it is aborted already", async () => {
    const clock = new ControlledClock();

    await expect(pause(clock, 100, AbortSignal.abort())).resolves.toBeUndefined();
    expect(clock.timers).toBe(0);
  });
});

describe("the system's clock", () => {
  test("doesn't fire timers at once that are too long for the runtime", async () => {
    let fired = false;
    const timer = systemClock.setTimer(() => {
      fired = true;
    }, 2 ** 40);
    await settle();
    timer.cancel();

    expect(fired).toBe(false);
  });

  test("defers to after what is under way", async () => {
    const order: string[] = [];
    await new Promise<void>((resolve) => {
      systemClock.defer(() => {
        order.push("deferred");
        resolve();
      });
      queueMicrotask(() => order.push("promise"));
      order.push("now");
    });

    expect(order).toEqual(["now", "promise", "deferred"]);
  });
});

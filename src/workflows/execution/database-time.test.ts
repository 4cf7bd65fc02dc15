import { describe, expect, test } from "vitest";
import { ControlledClock } from "../../testing/controlled-clock.ts";
import { DatabaseTime } from "./database-time.ts";

describe("the database's time", () => {
  const BEGIN = 1_000_000;

  /** Asked now, and answered after `late` milliseconds by a database whose time is `at`. */
  function answered(clock: ControlledClock, late: number, at: number) {
    const askedAt = clock.monotonic();
    clock.advance(late);
    return new DatabaseTime(clock, at, askedAt);
  }

  test("lies between what an answer says, and that plus the time it took", () => {
    const clock = new ControlledClock();
    const time = answered(clock, 1500, BEGIN);
    expect([time.now(), time.latest()]).toEqual([BEGIN, BEGIN + 1500]);
    clock.advance(100);
    expect([time.now(), time.latest()]).toEqual([BEGIN + 100, BEGIN + 1600]);
    expect(time.after(6000)).toBe(BEGIN + 7600);
  });

  test("is known the better, the quicker an answer comes", () => {
    const clock = new ControlledClock();
    const time = answered(clock, 1500, BEGIN);
    clock.advance(100);
    time.observe(BEGIN + 900, clock.monotonic());
    expect(time.now()).toBe(BEGIN + 900);
    clock.advance(1000);
    expect([time.now(), time.latest()]).toEqual([BEGIN + 1900, BEGIN + 1900]);
    const askedAt = clock.monotonic();
    clock.advance(5000);
    time.observe(BEGIN + 1900, askedAt);
    expect([time.now(), time.latest()]).toEqual([BEGIN + 6900, BEGIN + 6900]);
  });

  test("gives waits that begin later no earlier deadlines, though it is known better by then", () => {
    const clock = new ControlledClock();
    const time = answered(clock, 1500, BEGIN);
    const first = time.after(1000);
    time.observe(BEGIN, clock.monotonic());
    expect(time.after(1000)).toBe(first);
  });

  test("is what the newest answer says, if that can't be true otherwise", () => {
    const clock = new ControlledClock();
    const time = answered(clock, 10, BEGIN);
    expect(time.latest()).toBe(BEGIN + 10);
    time.observe(BEGIN - 3_600_000, clock.monotonic());
    expect([time.now(), time.latest()]).toEqual([BEGIN - 3_600_000, BEGIN - 3_600_000]);
    time.observe(BEGIN + 3_600_000, clock.monotonic());
    expect([time.now(), time.latest()]).toEqual([BEGIN + 3_600_000, BEGIN + 3_600_000]);
  });

  test("is at once over for what takes no time", () => {
    const clock = new ControlledClock();
    const time = answered(clock, 1500, BEGIN);
    expect(time.after(0)).toBe(time.now());
  });
});

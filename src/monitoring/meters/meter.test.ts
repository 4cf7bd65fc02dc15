import { describe, expect, test } from "vitest";
import { ControlledClock } from "../../../tests/support/controlled-clock.ts";
import { Activity, MOST_MINUTES } from "./activity.ts";
import { Histogram } from "./histogram.ts";
import { Meter, MOST_NAMES, OTHER } from "./meter.ts";

const MINUTE_MS = 60_000;

describe("a histogram", () => {
  test("counts a value in every bucket that is large enough, and values above all of them in the count alone", () => {
    const histogram = new Histogram([1, 10]);
    for (const value of [0.5, 1, 2, 10, 11]) histogram.add(value);

    const buckets = [
      { upTo: 1, count: 2 },
      { upTo: 10, count: 4 },
    ];
    expect(histogram.snapshot()).toEqual({ count: 5, sum: 24.5, buckets });
  });

  test("counts what clocks that differ make negative, or what isn't a number, as zero", () => {
    const histogram = new Histogram([1]);
    histogram.add(-5);
    histogram.add(Number.NaN);

    expect(histogram.snapshot()).toEqual({ count: 2, sum: 0, buckets: [{ upTo: 1, count: 2 }] });
  });
});

describe("activity", () => {
  test("is counted by the minute, with quiet minutes between, from the minute in which it began", () => {
    const clock = new ControlledClock(5 * MINUTE_MS + 1);
    const activity = new Activity(clock);
    activity.note("hooksStarted");
    activity.note("hooksStarted");
    clock.advance(2 * MINUTE_MS);
    activity.note("instancesErrored");

    const minutes = activity.last(60);
    expect(minutes.map(({ at }) => at.getTime() / MINUTE_MS)).toEqual([5, 6, 7]);
    expect(minutes.map(({ hooksStarted, instancesErrored }) => [hooksStarted, instancesErrored])).toEqual([
      [2, 0],
      [0, 0],
      [0, 1],
    ]);
    expect(activity.last(1)).toEqual(minutes.slice(2));
  });

  test("forgets minutes that are too old, also after a long silence", () => {
    const clock = new ControlledClock(0);
    const activity = new Activity(clock);
    activity.note("hooksFailed");
    clock.advance(MOST_MINUTES * MINUTE_MS);

    const quiet = activity.last(MOST_MINUTES + 1);
    expect(quiet).toHaveLength(MOST_MINUTES);
    expect(quiet.every(({ hooksFailed }) => hooksFailed === 0)).toBe(true);
    activity.note("hooksCompleted");
    expect(activity.last(1)).toMatchObject([{ hooksFailed: 0, hooksCompleted: 1 }]);
  });
});

describe("a meter", () => {
  test("counts a limited number of names apart, and all the rest together", () => {
    const { hooks } = new Meter(new ControlledClock()).of("app");
    for (let index = 0; index < MOST_NAMES + 50; index++) hooks.of(`hook ${index}`).end("completed");
    hooks.of("hook 0").end("completed");

    expect(hooks.all.size).toBe(MOST_NAMES + 1);
    expect(hooks.all.get("hook 0")?.ended.completed).toBe(2);
    expect(hooks.all.get(OTHER)?.ended.completed).toBe(50);
  });

  test("keeps no memory for what it counts once a name is known", () => {
    const meter = new Meter(new ControlledClock());
    const attempt = () => {
      const hook = meter.of("app").hooks.of("send");
      hook.begin(3);
      hook.rest(5);
      hook.end("completed");
      meter.flushes.settle.flushed(1, 2);
    };
    for (let index = 0; index < 10_000; index++) attempt();
    const before = process.memoryUsage().heapUsed;
    for (let index = 0; index < 100_000; index++) attempt();

    // A few numbers are boxed and collected; a record of each attempt would be 10 MB and more, and stay.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(16 * 1024 * 1024);
    expect(meter.of("app").hooks.of("send").duration.snapshot().count).toBe(110_000);
  });
});

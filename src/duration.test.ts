import fc from "fast-check";
import { describe, expect, expectTypeOf, test } from "vitest";
import { type Duration, parseDuration } from "./duration.ts";
import { InvalidInputError } from "./errors.ts";

const DAY = 86_400_000;

describe("parseDuration", () => {
  test.each<[Duration, number]>([
    [0, 0],
    [-0, 0],
    [1500, 1500],
    [0.4, 0],
    ["1 millisecond", 1],
    ["250 milliseconds", 250],
    ["1 second", 1000],
    ["10 seconds", 10_000],
    ["1 minute", 60_000],
    ["5 minutes", 300_000],
    ["1 hour", 3_600_000],
    ["1.5 hours", 5_400_000],
    ["1 day", DAY],
    ["0.5 days", DAY / 2],
    ["2 weeks", 14 * DAY],
    ["1 month", 30 * DAY],
    ["1 year", 365.25 * DAY],
    ["1e3 seconds", 1_000_000],
    ["1e3s", 1_000_000],
    ["5 ms", 5],
    ["250ms", 250],
    ["5 s", 5000],
    ["30s", 30_000],
    ["10seconds", 10_000],
    ["90 sec", 90_000],
    ["2 secs", 2000],
    ["5m", 300_000],
    ["5 min", 300_000],
    ["5mins", 300_000],
    ["1h", 3_600_000],
    ["1.5 h", 5_400_000],
    ["2 hr", 7_200_000],
    ["2hrs", 7_200_000],
    ["7d", 7 * DAY],
    ["2w", 14 * DAY],
    ["1 y", 365.25 * DAY],
  ])("reads %j", (value, milliseconds) => {
    expect(parseDuration(value)).toBe(milliseconds);
  });

  test("reads whatever number a template made", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), (amount) => {
        expect(parseDuration(`${amount} seconds`)).toBe(Math.round(amount * 1000));
      }),
    );
  });

  test.each<[unknown, string]>([
    [-1, "timeout is -1, which isn't a duration: it is negative."],
    ["-1 second", 'timeout is "-1 second", which isn\'t a duration: it is negative.'],
    [Number.NaN, "it isn't a number"],
    [Number.POSITIVE_INFINITY, "longer than can be counted"],
    ["300000 years", "longer than can be counted"],
    ["1e300 years", "longer than can be counted"],
    ["Infinity seconds", "it isn't a number and a unit"],
    ["NaN seconds", "it isn't a number and a unit"],
    ["5 fortnights", 'the unit "fortnights" isn\'t known'],
    ["5 hs", 'the unit "hs" isn\'t known'],
    ["5 mss", 'the unit "mss" isn\'t known'],
    ["5 M", 'the unit "M" isn\'t known'],
    ["5mo", 'the unit "mo" isn\'t known'],
    ["1 Hour", 'the unit "Hour" isn\'t known'],
    ["1 constructor", 'the unit "constructor" isn\'t known'],
    ["10", "it isn't a number and a unit"],
    ["1 hour 5 minutes", "it isn't a number and a unit"],
    ["0x10 seconds", "it isn't a number and a unit"],
    ["seconds", "it isn't a number and a unit"],
    ["", "it isn't a number and a unit"],
    [undefined, "it is neither a number nor a text"],
    [null, "it is neither a number nor a text"],
    [5n, "it is neither a number nor a text"],
    [Object.create(null), "it is neither a number nor a text"],
  ])("refuses %o", (value, why) => {
    const parse = () => parseDuration(value as number, "timeout");
    expect(parse).toThrow(InvalidInputError);
    expect(parse).toThrow(expect.objectContaining({ code: "duration.invalid" }));
    expect(parse).toThrow(why);
    expect(parse).toThrow("Give milliseconds as a number");
  });

  test("refuses a long text quickly", () => {
    expect(() => parseDuration(`${"1".repeat(1_000_000)}x`)).toThrow('duration is "1111');
  });

  test("has a type that knows the units", () => {
    expectTypeOf<"1 hour">().toExtend<Duration>();
    expectTypeOf<"1.5 hours">().toExtend<Duration>();
    expectTypeOf<"1h" | "30s" | "5 min" | "1 year" | "1.5h" | "100ms" | "2 hrs">().toExtend<Duration>();
    expectTypeOf<5>().toExtend<Duration>();
    expectTypeOf<"5 mo">().not.toExtend<Duration>();
    expectTypeOf<"1 fortnight">().not.toExtend<Duration>();
    expectTypeOf<"an hour">().not.toExtend<Duration>();
  });
});

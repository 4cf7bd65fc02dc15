import { describe, expect, test } from "vitest";
import { describeCron } from "../../dashboard/data/cron.ts";
import { count, duration, figure, relative } from "../../dashboard/data/times.ts";
import { toShown } from "../../dashboard/data/values.ts";
import { toWire } from "../../src/http/wire-values.ts";

test.each([
  ["* * * * *", "Every minute"],
  ["*/15 * * * *", "Every 15 minutes"],
  ["*/10 * * * * *", "Every 10 seconds"],
  ["0 * * * *", "Every hour"],
  ["@daily", "Every day at 00:00"],
  ["30 2 1 * *", "On day 1 of every month at 02:30"],
  ["0 7 * * 1-5", "Every Monday to Friday at 07:00"],
  ["0 7,19 * * sat,sun", "Every Saturday and Sunday at 07:00 and 19:00"],
  ["0 0 1 1 *", "On day 1 of January at 00:00"],
  ["0 9 * * 7", "Every Sunday at 09:00"],
  ["5 0 L * *", "5 0 L * *"],
  ["0 9-17/2 * * *", "0 9-17/2 * * *"],
  ["not cron", "not cron"],
])("the schedule %s is described as: %s", (cron, words) => {
  expect(describeCron(cron)).toBe(words);
});

test.each([
  [0, "0 ms"],
  [999, "999 ms"],
  [1250, "1.25 s"],
  [65_000, "1 min 5 s"],
  [3_600_000, "1 h"],
  [90_000_000, "1 d 1 h"],
])("%i ms are written as %s", (ms, words) => {
  expect(duration(ms)).toBe(words);
});

test("times are shown relative to now, in either direction", () => {
  expect([relative(0, 500), relative(0, 61_000), relative(7_300_000, 0)]).toEqual(["now", "1 min ago", "in 2 h"]);
  expect(relative(47 * 3_600_000, 0)).toBe("in 47 h");
});

test("large counts have all their digits", () => {
  expect(count(9_007_199_254_740_991)).toBe("9,007,199,254,740,991");
});

test("counts that are lower limits have a plus sign", () => {
  const counts = { total: 10_003, complete: 10_000, errored: 3, atLeast: ["total", "complete"] } as never;
  expect([figure(counts, "complete"), figure(counts, "errored"), figure(counts, "paused")]).toEqual([
    "10,000+",
    "3",
    "0",
  ]);
  expect(figure(undefined, "total")).toBe("0");
});

describe("a user's value", () => {
  test.each([
    [12345678901234567890n, "12345678901234567890n"],
    [-0, "-0"],
    [Number.NaN, "NaN"],
    [undefined, "undefined"],
    [new Date(0), "Date 1970-01-01T00:00:00.000Z"],
    [/a+/gi, "/a+/gi"],
    ['a\n"b"', '"a\\n\\"b\\""'],
    [new Uint8Array([1, 2]), "Uint8Array AQI="],
  ])("that is %s is shown exactly", (value, text) => {
    expect(toShown(toWire(value))).toMatchObject({ text });
  });

  test("with parts is shown as a tree of them", () => {
    expect(toShown(toWire(new Map([["a", 1n]])))).toMatchObject({ open: "Map {", items: [["a", { value: "1" }]] });
    expect(toShown(toWire(new Set([1])))).toMatchObject({ open: "Set {", items: [["0", 1]] });
    expect(toShown({ $perdure: "object", value: { $perdure: 1 } })).toMatchObject({ items: [["$perdure", 1]] });
    expect(toShown(toWire(new Error("no")))).toMatchObject({ open: "Error {" });
  });

  test("that is hidden says so, and one of an unknown kind is shown as it is", () => {
    expect(toShown("[REDACTED]")).toEqual({ kind: "hidden", text: "hidden" });
    expect(toShown({ $perdure: "sensitive", value: 1 })).toEqual({ kind: "hidden", text: "hidden" });
    expect(toShown({ $perdure: "later", a: 1 })).toMatchObject({ open: "later {", items: [["a", 1]] });
  });
});

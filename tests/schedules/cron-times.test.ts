import { describe, expect, test } from "vitest";
import { InvalidInputError } from "../../src/errors.ts";
import { CronTimes } from "../../src/workflows/schedules/cron-times.ts";

function timesAfter(cron: string, timezone: string, from: string, count: number): string[] {
  const times = new CronTimes(cron, timezone);
  const found: string[] = [];
  let time: number | null = Date.parse(from);
  while (found.length < count) {
    time = times.nextAfter(time as number);
    if (time === null) break;
    found.push(new Date(time).toISOString());
  }
  return found;
}

describe("the times of a cron expression", () => {
  test("are those of its time zone, through changes of the clocks", () => {
    expect(timesAfter("0 9 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z", 2)).toEqual([
      "2026-03-28T08:00:00.000Z",
      "2026-03-29T07:00:00.000Z",
    ]);
  });

  test("that are skipped when the clocks go forward come right after", () => {
    expect(timesAfter("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2)).toEqual([
      "2026-03-29T01:00:00.000Z", // 3:00, for the 2:30 that there wasn't
      "2026-03-30T00:30:00.000Z",
    ]);
  });

  test("that are repeated when the clocks go back come once", () => {
    expect(timesAfter("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2)).toEqual([
      "2026-10-25T00:30:00.000Z",
      "2026-10-26T01:30:00.000Z",
    ]);
  });

  test("of an interval continue evenly through changes of the clocks", () => {
    expect(timesAfter("0 * * * *", "Europe/Berlin", "2026-10-24T23:30:00Z", 3)).toEqual([
      "2026-10-25T00:00:00.000Z",
      "2026-10-25T01:00:00.000Z",
      "2026-10-25T02:00:00.000Z",
    ]);
    expect(timesAfter("*/30 * * * *", "Europe/Berlin", "2026-03-29T00:30:00Z", 3)).toEqual([
      "2026-03-29T01:00:00.000Z",
      "2026-03-29T01:30:00.000Z",
      "2026-03-29T02:00:00.000Z",
    ]);
  });

  test("of a leap day come in leap years", () => {
    expect(timesAfter("0 0 29 2 *", "UTC", "2097-01-01T00:00:00Z", 2)).toEqual([
      "2104-02-29T00:00:00.000Z", // 2100 isn't one
      "2108-02-29T00:00:00.000Z",
    ]);
  });

  test("may have seconds, names and nicknames", () => {
    expect(timesAfter("*/20 * * * * *", "UTC", "2026-01-01T00:00:00Z", 2)).toEqual([
      "2026-01-01T00:00:20.000Z",
      "2026-01-01T00:00:40.000Z",
    ]);
    expect(timesAfter("0 9 * JAN MON-FRI", "UTC", "2026-01-02T10:00:00Z", 1)).toEqual(["2026-01-05T09:00:00.000Z"]);
    expect(timesAfter("@daily", "UTC", "2026-01-02T10:00:00Z", 1)).toEqual(["2026-01-03T00:00:00.000Z"]);
    expect(timesAfter("0 9 L * *", "UTC", "2026-02-02T10:00:00Z", 1)).toEqual(["2026-02-28T09:00:00.000Z"]);
  });

  test("are found backwards, too: the last one up to a time", () => {
    const times = new CronTimes("*/5 * * * *", "UTC");
    const at = (text: string) => Date.parse(`2026-01-01T${text}Z`);
    expect(times.lastUpTo(at("00:05:00.000"))).toBe(at("00:05:00.000"));
    expect(times.lastUpTo(at("00:04:59.999"))).toBe(at("00:00:00.000"));
    expect(times.lastUpTo(at("00:05:00.001"))).toBe(at("00:05:00.000"));
    expect(new CronTimes("30 2 * * *", "Europe/Berlin").lastUpTo(Date.parse("2026-10-25T01:45:00Z"))).toBe(
      Date.parse("2026-10-25T00:30:00Z"),
    );
  });
});

describe("a text that isn't a cron expression is refused, with a message that says what is accepted", () => {
  test.each([
    "",
    "* * * *",
    "0 9 * * * * 2027",
    "60 * * * *",
    "every day",
    "2026-01-01T00:00:00",
    "@reboot",
    "@sometimes",
    "H * * * *",
    "5-1 * * * *",
    "*/0 * * * *",
    42,
    null,
    undefined,
    {},
  ])("%j", (cron) => {
    expect(() => new CronTimes(cron, "UTC")).toThrow(InvalidInputError);
    expect(() => new CronTimes(cron, "UTC")).toThrow(/five fields|match a future time/);
  });

  test("and what is wrong with one of its fields is said", () => {
    expect(() => new CronTimes("61 * * * *", "UTC")).toThrow(/got "61 \* \* \* \*" \(.*minute.*61\)\.$/);
  });

  test("a day that never comes", () => {
    expect(() => new CronTimes("0 0 30 2 *", "UTC")).toThrow(/must match a future time/);
  });

  test.each(["Mars/Phobos", "", 3, null])("the time zone %j", (timezone) => {
    expect(() => new CronTimes("0 9 * * *", timezone)).toThrow(/A time zone is a name like "Europe\/Berlin"/);
  });
});

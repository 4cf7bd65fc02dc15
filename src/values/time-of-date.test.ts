import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { timeOfDate } from "./kinds.ts";

test("a date has a time, whichever realm made it, and nothing else has", () => {
  expect(timeOfDate(new Date(5))).toBe(5);
  expect(timeOfDate(new (class extends Date {})(5))).toBe(5);
  expect(timeOfDate(runInNewContext("new Date(5)"))).toBe(5);
  expect(timeOfDate(new Date(Number.NaN))).toBeNaN();
  for (const other of [null, undefined, 5, "1970", {}, Object.create(Date.prototype), new Proxy(new Date(5), {})]) {
    expect(timeOfDate(other)).toBeUndefined();
  }
});

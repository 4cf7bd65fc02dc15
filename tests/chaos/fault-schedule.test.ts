import { expect, test } from "vitest";
import { scheduleFaults } from "../../chaos/fault-schedule.ts";

const MINUTE_MS = 60_000;

test("a seed gives the same faults each time, and another seed gives others", () => {
  expect(scheduleFaults(1, "postgres", MINUTE_MS)).toEqual(scheduleFaults(1, "postgres", MINUTE_MS));
  expect(scheduleFaults(1, "postgres", MINUTE_MS)).not.toEqual(scheduleFaults(2, "postgres", MINUTE_MS));
});

test("a short run has every fault that a long one has", () => {
  const names = (minutes: number) =>
    new Set(scheduleFaults(3, "postgres", minutes * MINUTE_MS).map(({ plan }) => JSON.stringify(plan)));
  expect(names(0.12)).toEqual(names(10));
});

test("a file has no server and no network to fail", () => {
  const names = scheduleFaults(4, "sqlite", 10 * MINUTE_MS).map(({ plan }) => plan.name);
  expect(names).not.toContain("database restarted");
  expect(names).not.toContain("connections cut");
});

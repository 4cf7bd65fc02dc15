import { vi } from "vitest";

/** Waits until a check no longer fails, by what other threads and processes do. No time of the test's own clock passes. */
export function eventually<Result>(check: () => Result | Promise<Result>): Promise<Result> {
  return vi.waitFor(check, { timeout: 100_000, interval: 2 });
}

import { afterAll, beforeAll, expect, vi } from "vitest";

const TIMERS = [
  "setTimeout",
  "clearTimeout",
  "setInterval",
  "clearInterval",
  "setImmediate",
  "clearImmediate",
] as const;
type Timers = Record<(typeof TIMERS)[number], unknown>;
const KEPT = Symbol.for("perdure.tests.timers");
const shared = globalThis as unknown as Timers & { [KEPT]?: Timers & { now: unknown } };

/** Those that the process had before its first file. */
shared[KEPT] ??= {
  ...(Object.fromEntries(TIMERS.map((name) => [name, shared[name]])) as Timers),
  now: performance.now,
};

/**
 * For files that share a process: gives the real timers back. Where a file leaves faked ones, those after it would wait for
 * ever, so it is named.
 */
function bringBack(when: string): void {
  const { now, ...real } = shared[KEPT] as Timers & { now: unknown };
  vi.useRealTimers();
  const faked = TIMERS.filter((name) => shared[name] !== real[name]);
  Object.assign(shared, real);
  if (performance.now !== now) {
    faked.push("performance.now" as never);
    Object.assign(performance, { now });
  }
  if (faked.length > 0) console.error(`${expect.getState().testPath} ${when} ${faked.join(", ")} faked.`);
}

beforeAll(() => bringBack("found"));
afterAll(() => bringBack("left"));

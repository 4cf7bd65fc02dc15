import { type Clock, systemClock } from "../../src/clock.ts";

const HOUR = 3_600_000;

/** Clocks that are hours fast or slow, by their name. Real time passes with them: they are about the database's own clock. */
export const WRONG_CLOCKS: [string, Clock][] = [
  ["fast", wrongBy(3 * HOUR)],
  ["slow", wrongBy(-3 * HOUR)],
];

function wrongBy(milliseconds: number): Clock {
  return { ...systemClock, now: () => systemClock.now() + milliseconds };
}

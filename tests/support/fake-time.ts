import { vi } from "vitest";

/**
 * Replaces the timers and the monotonic clock of this process, in pg too, but not its sockets. Undone by `vi.useRealTimers()`.
 */
export function useFakeTime(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"] });
}

/**
 * Lets fake time pass, from timer to timer. `settled` says when everything is over that a timer has set off, so that time
 * never passes while a database answers.
 */
export async function passFakeTime(milliseconds: number, settled: () => boolean): Promise<number> {
  const start = performance.now();
  const end = start + milliseconds;
  await untilSettled(settled);
  while (performance.now() < end) {
    if (vi.getTimerCount() === 0) vi.advanceTimersByTime(end - performance.now());
    else vi.advanceTimersToNextTimer();
    await untilSettled(settled);
  }
  return performance.now() - start;
}

const QUIET_TURNS = 5;

async function untilSettled(settled: () => boolean): Promise<void> {
  for (let quiet = 0; quiet < QUIET_TURNS; quiet = settled() ? quiet + 1 : 0) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

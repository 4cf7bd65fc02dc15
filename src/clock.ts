/**
 * Time, as everything in Perdure sees it. The system's clock in production; a controlled one in tests and simulations, where
 * even SQL takes its time from here.
 */
export interface Clock {
  /** True when databases must use `now()` instead of their own time. */
  readonly controlled: boolean;
  /** Milliseconds since the epoch, as this process believes. */
  now(): number;
  /** Milliseconds that never go back and never jump. */
  monotonic(): number;
  /** Calls back once after `milliseconds`. */
  setTimer(callback: () => void, milliseconds: number): Timer;
  /** Calls back after everything that is already under way in this turn of the event loop. */
  defer(callback: () => void): void;
}

export interface Timer {
  cancel(): void;
}

/** Longer waits overflow the runtime's timers and fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

type Immediate = (callback: () => void) => unknown;
const immediate: Immediate | undefined = (globalThis as { setImmediate?: Immediate }).setImmediate;

export const systemClock: Clock = {
  controlled: false,
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(callback, milliseconds) {
    const handle = setTimeout(callback, Math.min(Math.max(milliseconds, 0), LONGEST_TIMER_MS));
    return { cancel: () => clearTimeout(handle) };
  },
  defer(callback) {
    if (immediate) immediate(callback);
    else setTimeout(callback, 0);
  },
};

/** Resolves after `milliseconds` of the clock's time, or as soon as the signal is aborted. */
export function pause(clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = () => {
      timer.cancel();
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = clock.setTimer(finish, milliseconds);
    signal?.addEventListener("abort", finish);
  });
}

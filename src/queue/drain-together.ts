import type { Clock } from "../clock.ts";

/** A source of work that can make other work due. */
export interface Drainable {
  /** Runs due work until there is none, or until the deadline. Returns how much it ran. */
  drain(deadlineMs: number): Promise<number>;
  /** Milliseconds until work is due, zero or less if it is due now; null if none waits. */
  nextWake(): Promise<number | null>;
}

/**
 * Drains a worker and `other` side by side, until neither has due work, or until the deadline. A handler of one may make work
 * of the other due after the other has looked, so both look again as long as there was work.
 */
export async function drainTogether(
  clock: Clock,
  deadlineMs: number,
  drainWorker: (deadlineMs: number) => Promise<void>,
  other: Drainable,
): Promise<void> {
  const endAt = clock.monotonic() + deadlineMs;
  for (let last = false; ; ) {
    const remaining = Math.max(endAt - clock.monotonic(), 0);
    const [worker, others] = await Promise.allSettled([drainWorker(remaining), other.drain(remaining)]);
    if (worker.status === "rejected") throw worker.reason;
    if (others.status === "rejected") throw others.reason;
    if (clock.monotonic() >= endAt) return;
    if (others.value > 0) continue;
    const wake = await other.nextWake();
    if (last || wake === null || wake > 0) return;
    last = true; // due, but another process is just claiming it
  }
}

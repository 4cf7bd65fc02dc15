import type { Clock } from "../clock.ts";

/** Something with work of its own, which may make work for others due. */
export interface Drainable {
  /** Runs what is due until nothing is, or until the deadline. Gives how much that was. */
  drain(deadlineMs: number): Promise<number>;
  /** Milliseconds until something is due, zero or less if it is; null if nothing waits. */
  nextWake(): Promise<number | null>;
}

/**
 * Runs what is due in a worker and in `other`, side by side, until nothing is due in either, or until the deadline. A handler of
 * one may make work for the other due, which has looked by then: so both look again for as long as there was something to do.
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
    last = true; // due, and yet not to be had: another process is just claiming it
  }
}

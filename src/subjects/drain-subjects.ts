import { pause } from "../clock.ts";
import type { WorkTaker } from "../store/queue/work-board.ts";
import { topicOf } from "./subject-ledger.ts";
import { type PoolOptions, SubjectPool } from "./subject-pool.ts";

export interface DrainOptions extends Omit<PoolOptions, "onRoom"> {
  /** Whether to claim what becomes due meanwhile as soon as it does. */
  readonly listens: () => boolean;
}

/**
 * Handles the subjects of one dispatcher that are due, until none is or until the deadline; then gives back what is still
 * running. Gives how many it has claimed.
 */
export async function drainSubjects(options: DrainOptions, deadlineMs: number): Promise<number> {
  const { ledger, listens, store } = options;
  const { clock } = store;
  const endAt = clock.monotonic() + deadlineMs;
  const topic = topicOf(ledger.scope);
  let wake = new AbortController();
  const pool = new SubjectPool({ ...options, onRoom: () => wake.abort() });
  const taker: WorkTaker = {
    notice: ({ namespace, delayMs, remote = false }) => {
      const concerned = namespace === null || namespace === topic;
      if (remote || !concerned || delayMs > 0 || !listens()) return false;
      wake.abort();
      return pool.room > 0;
    },
    reserve: () => null,
  };
  const leave = store.work.join(taker, { listens: false });
  let total = 0;
  try {
    while (clock.monotonic() < endAt) {
      wake = new AbortController();
      const idle = pool.running === 0; // asked before: what ends while we look may make something due that we don't see
      const { claimed } = await pool.fill(null);
      total += claimed;
      if (claimed > 0) continue;
      if (idle && !wake.signal.aborted) break;
      await pause(clock, endAt - clock.monotonic(), wake.signal);
    }
  } finally {
    leave();
    await pool.stop(Math.max(endAt - clock.monotonic(), 0));
  }
  return total;
}

import type { SentToAll } from "./workflow-binding.ts";

/** One batch of the instances that an event goes to, and where the next one begins. */
export interface SentBatch extends SentToAll {
  /** Null after the last batch. */
  readonly cursor: string | null;
}

/** Sends one batch after the other, and adds them up. */
export async function inBatches(send: (cursor: string | null) => Promise<SentBatch>): Promise<SentToAll> {
  let sum: SentToAll = { sent: 0, full: 0 };
  let cursor: string | null = null;
  do {
    const batch: SentBatch = await send(cursor);
    sum = { sent: sum.sent + batch.sent, full: sum.full + batch.full };
    cursor = batch.cursor;
  } while (cursor !== null);
  return sum;
}

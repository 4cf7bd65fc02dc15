import { setTimeout as sleep } from "node:timers/promises";

const PAUSE_MILLISECONDS = 5;

/** Resolves when `count` workflows are finished by what their database says. */
export async function untilFinished(count: number, countFinished: () => Promise<number>): Promise<void> {
  while ((await countFinished()) < count) await sleep(PAUSE_MILLISECONDS);
}

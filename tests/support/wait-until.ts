import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";

const INTERVAL_MS = 10;
const DEADLINE_MS = 100_000;
/** Taken before any test replaces them. */
const now = performance.now.bind(performance);
const realDelay = delay;

/** Resolves with the first truthy answer. The deadline is there to say what didn't happen, not to measure anything. */
export async function waitUntil<Answer>(
  description: string,
  ask: () => Answer | Promise<Answer>,
  deadlineMs: number = DEADLINE_MS,
): Promise<Exclude<Answer, false | null | undefined>> {
  const giveUpAt = now() + deadlineMs;
  for (;;) {
    const answer = await ask();
    if (answer) return answer as Exclude<Answer, false | null | undefined>;
    if (now() > giveUpAt) throw new Error(`Waited in vain until ${description}.`);
    await realDelay(INTERVAL_MS);
  }
}

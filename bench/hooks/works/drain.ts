import { setTimeout as sleep } from "node:timers/promises";
import type { Session } from "../contender.ts";
import type { HookWork } from "../hook-work.ts";
import { makePayloads } from "../payload.ts";
import { WORK_NAMES } from "../work-names.ts";

const WARM_UP_SHARE = 0.1;

export const drain: HookWork = {
  name: WORK_NAMES.drain,
  engines: ["sqlite", "postgres"],
  figures: [{ name: WORK_NAMES.drain, unit: "hooks/s", better: "higher" }],
  method: ({ drainHooks }) =>
    `${drainHooks} hooks enqueued beforehand, then a worker with an empty handler is started; until the database holds no unsettled
    hook, less the time to start, which is measured on a single hook before`,

  async run(contender, database, { drainHooks }) {
    await using session = await contender.open(database);
    const count = Math.min(drainHooks, contender.maximumDrain ?? drainHooks);
    const warmUp = Math.floor(count * WARM_UP_SHARE);
    if (warmUp > 0) await timeDrain(session, warmUp);
    const single = await timeDrain(session, 1);
    const all = await timeDrain(session, count);
    // On a busy machine the start before may have taken longer than this one has.
    const untilStarted = Math.min(single.untilFirstRun, all.untilFirstRun);
    return [(count / (all.untilSettled - untilStarted)) * 1000];
  },
};

/** Enqueues, then starts a worker. Both times are milliseconds from the start of the worker. */
async function timeDrain(session: Session, count: number): Promise<{ untilFirstRun: number; untilSettled: number }> {
  {
    await using producer = await session.openProducer();
    await producer.enqueueMany(makePayloads(count));
  }
  const stored = await session.countUnsettled();
  if (stored !== count) throw new Error(`${count} hooks were enqueued, but the database holds ${stored}`);

  const { promise: allRun, resolve } = Promise.withResolvers<void>();
  let runs = 0;
  let firstRun = 0;
  const start = performance.now();
  await using _worker = await session.startWorker(() => {
    if (runs++ === 0) firstRun = performance.now();
    if (runs === count) resolve();
  });
  await allRun;
  while ((await session.countUnsettled()) > 0) await sleep(1);
  const settled = performance.now();
  if (runs !== count) throw new Error(`${count} hooks were enqueued, but ${runs} ran`);
  return { untilFirstRun: firstRun - start, untilSettled: settled - start };
}

import { setTimeout as sleep } from "node:timers/promises";
import { countStatements } from "../../harness/statement-counter.ts";
import type { Session } from "../contender.ts";
import type { HookWork } from "../hook-work.ts";
import { makePayload } from "../payload.ts";
import { WORK_NAMES } from "../work-names.ts";

const MINUTE_MILLISECONDS = 60_000;

export const idle: HookWork = {
  name: WORK_NAMES.idle,
  engines: ["postgres"],
  figures: [{ name: WORK_NAMES.idle, unit: "statements/min", better: "lower" }],
  together: true,
  method: ({ idleWindowMilliseconds }) =>
    `a worker with nothing to do, for ${idleWindowMilliseconds / 1000} s; a proxy counts each Query and Execute message, heartbeats
    included. All contenders at once. A hook runs before and after, to show that the worker is there`,

  async run(contender, database, { idleSettleMilliseconds, idleWindowMilliseconds }) {
    await using counter = await countStatements(database);
    await using session = await contender.open(counter.url);
    let onRun = (_sequence: number) => {};
    await using _worker = await session.startWorker((payload) => onRun(payload.sequence));
    const runOne = async (sequence: number) => {
      const ran = new Promise<void>((resolve) => {
        onRun = (runSequence) => {
          if (runSequence === sequence) resolve();
        };
      });
      await enqueueOne(session, sequence);
      await ran;
    };

    await runOne(1);
    await sleep(idleSettleMilliseconds);
    const before = counter.count;
    await sleep(idleWindowMilliseconds);
    const statements = counter.count - before;
    await runOne(2);
    return [(statements / idleWindowMilliseconds) * MINUTE_MILLISECONDS];
  },
};

async function enqueueOne(session: Session, sequence: number): Promise<void> {
  await using producer = await session.openProducer();
  await producer.enqueue(makePayload(sequence));
}

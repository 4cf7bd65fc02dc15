import { setTimeout as sleep } from "node:timers/promises";
import { percentile } from "../../harness/statistics.ts";
import type { HookWork } from "../hook-work.ts";
import { makePayload } from "../payload.ts";
import { WORK_NAMES } from "../work-names.ts";

const WARM_UP_SAMPLES = 10;
const PAUSE_MILLISECONDS = 15;
const PAUSE_JITTER_MILLISECONDS = 20;

export const latency: HookWork = {
  name: WORK_NAMES.latency,
  engines: ["sqlite", "postgres"],
  figures: [
    { name: `${WORK_NAMES.latency} p50`, unit: "ms", better: "lower" },
    { name: `${WORK_NAMES.latency} p99`, unit: "ms", better: "lower" },
  ],
  method: ({ latencySamples }) =>
    `from the call that enqueues to the handler's start, ${latencySamples} times, one at a time, the worker idle in between; on
    PostgreSQL enqueued through other connections than the worker's, on SQLite by the process that works`,

  async run(contender, database, { latencySamples }) {
    await using session = await contender.open(database);
    let onRun = (_sequence: number) => {};
    await using _worker = await session.startWorker((payload) => onRun(payload.sequence));
    await using producer = await session.openProducer();

    const samples: number[] = [];
    for (let sequence = 0; sequence < WARM_UP_SAMPLES + latencySamples; sequence++) {
      await sleep(PAUSE_MILLISECONDS + Math.random() * PAUSE_JITTER_MILLISECONDS);
      const { promise: ranAt, resolve } = Promise.withResolvers<number>();
      onRun = (ran) => {
        if (ran === sequence) resolve(performance.now());
      };
      const start = performance.now();
      const [end] = await Promise.all([ranAt, producer.enqueue(makePayload(sequence))]);
      if (sequence >= WARM_UP_SAMPLES) samples.push(end - start);
    }
    return [percentile(samples, 0.5), percentile(samples, 0.99)];
  },
};

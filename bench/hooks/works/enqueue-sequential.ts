import type { HookWork } from "../hook-work.ts";
import { makePayload } from "../payload.ts";
import { WORK_NAMES } from "../work-names.ts";

const WARM_UP_CALLS = 20;

export const enqueueSequential: HookWork = {
  name: WORK_NAMES.enqueueSequential,
  engines: ["sqlite", "postgres"],
  figures: [{ name: WORK_NAMES.enqueueSequential, unit: "hooks/s", better: "higher" }],
  method: ({ enqueueMilliseconds }) =>
    `single calls, each awaited before the next, for ${enqueueMilliseconds} ms; no worker runs`,

  async run(contender, database, { enqueueMilliseconds }) {
    await using session = await contender.open(database);
    await using producer = await session.openProducer();
    for (let index = 0; index < WARM_UP_CALLS; index++) await producer.enqueue(makePayload(index));

    let count = 0;
    const start = performance.now();
    while (performance.now() - start < enqueueMilliseconds) await producer.enqueue(makePayload(count++));
    return [(count / (performance.now() - start)) * 1000];
  },
};

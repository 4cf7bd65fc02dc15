import { setImmediate } from "node:timers/promises";
import type { Producer } from "../contender.ts";
import type { HookWork } from "../hook-work.ts";
import { makePayload, makePayloads } from "../payload.ts";
import { WORK_NAMES } from "../work-names.ts";

const CALLS_IN_FLIGHT = 200;
const WARM_UP_CALLS = 200;
const FLOOR_LANES = 2;
const FLOOR_ROWS = 500;

export const enqueueConcurrent: HookWork = {
  name: WORK_NAMES.enqueueConcurrent,
  engines: ["sqlite", "postgres"],
  figures: [{ name: WORK_NAMES.enqueueConcurrent, unit: "hooks/s", better: "higher" }],
  method: ({ enqueueMilliseconds }) =>
    `${CALLS_IN_FLIGHT} single calls in flight for ${enqueueMilliseconds} ms; the floor inserts batches of ${FLOOR_ROWS}; no worker runs`,

  async run(contender, database, { enqueueMilliseconds }) {
    await using session = await contender.open(database);
    await using producer = await session.openProducer();
    await inFlight(CALLS_IN_FLIGHT, countdown(WARM_UP_CALLS), async () => {
      await producer.enqueue(makePayload(0));
      return 1;
    });

    const [lanes, step] =
      contender.role === "floor" ? [FLOOR_LANES, batches(producer)] : [CALLS_IN_FLIGHT, singles(producer)];
    const start = performance.now();
    const count = await inFlight(lanes, () => performance.now() - start < enqueueMilliseconds, step);
    return [(count / (performance.now() - start)) * 1000];
  },
};

function singles(producer: Producer): () => Promise<number> {
  let sequence = 0;
  return async () => {
    await producer.enqueue(makePayload(sequence++));
    return 1;
  };
}

function batches(producer: Producer): () => Promise<number> {
  return async () => {
    await producer.enqueueMany(makePayloads(FLOOR_ROWS));
    return FLOOR_ROWS;
  };
}

function countdown(count: number): () => boolean {
  let rest = count;
  return () => rest-- > 0;
}

/** Runs `lanes` loops of `step` while `goOn`, and sums up what the steps return. */
async function inFlight(lanes: number, goOn: () => boolean, step: () => Promise<number>): Promise<number> {
  let sum = 0;
  const lane = async () => {
    while (goOn()) {
      const done = await step(); // not `sum += await …`, which would read the sum before the wait
      sum += done;
      // A contender that never leaves the microtask queue would hold up the others, and the clock.
      if (sum % 1000 === 0) await setImmediate();
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return sum;
}

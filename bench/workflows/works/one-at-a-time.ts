import { percentile } from "../../harness/statistics.ts";
import { STEPS } from "../order.ts";
import { WORK_NAMES } from "../work-names.ts";
import type { WorkflowWork } from "../workflow-work.ts";

const WARM_UP_SHARE = 0.2;

export const oneAtATime: WorkflowWork = {
  name: WORK_NAMES.one,
  engines: ["sqlite", "postgres"],
  figures: [
    { name: `${WORK_NAMES.one} p50`, unit: "ms", better: "lower" },
    { name: `${WORK_NAMES.one} p99`, unit: "ms", better: "lower" },
  ],
  method: ({ samples }) =>
    `from the call that starts a ${STEPS}-step workflow to its result, ${samples} times, each awaited before the next; the floor
    writes and commits the same rows four times`,

  async run(contender, database, scale) {
    await using session = await contender.open(database);
    const count = Math.min(scale.samples, contender.maximumSamples ?? scale.samples);
    for (let index = 0; index < Math.ceil(count * WARM_UP_SHARE); index++) await session.runOne(STEPS);
    const samples: number[] = [];
    for (let index = 0; index < count; index++) {
      const start = performance.now();
      await session.runOne(STEPS);
      samples.push(performance.now() - start);
    }
    return [percentile(samples, 0.5), percentile(samples, 0.99)];
  },
};

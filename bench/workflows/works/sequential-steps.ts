import { WORK_NAMES } from "../work-names.ts";
import type { WorkflowWork } from "../workflow-work.ts";

const WARM_UP_STEPS = 10;

export const sequentialSteps: WorkflowWork = {
  name: WORK_NAMES.steps,
  engines: ["sqlite", "postgres"],
  figures: [{ name: WORK_NAMES.steps, unit: "ms/step", better: "lower" }],
  method: ({ steps }) => `one workflow of ${steps} steps, from its start to its result; the floor commits as many rows`,

  async run(contender, database, { steps }) {
    await using session = await contender.open(database);
    await session.runOne(WARM_UP_STEPS);
    const start = performance.now();
    await session.runOne(steps);
    return [(performance.now() - start) / steps];
  },
};

import type { WorkflowContender } from "../contender.ts";
import { STEPS } from "../order.ts";
import type { Scale } from "../scale.ts";
import { WORK_NAMES } from "../work-names.ts";
import type { WorkflowWork } from "../workflow-work.ts";

const WARM_UP_SHARE = 0.1;

/** Every contender, tuned for a lot of work. */
export const manyAtOnce = manyWork(WORK_NAMES.many);
/** Every contender with its defaults. */
export const manyByDefault = manyWork(WORK_NAMES.manyByDefault);

function manyWork(name: string): WorkflowWork {
  return {
    name,
    engines: ["sqlite", "postgres"],
    figures: [{ name, unit: "workflows/s", better: "higher" }],
    method: ({ workflows }) =>
      `${workflows} calls at once, each of which starts a ${STEPS}-step workflow, in the process that runs them (fewer for the slow);
    from the first call until the database says that all are finished`,
    run,
  };
}

async function run(contender: WorkflowContender, database: string, { workflows }: Scale): Promise<readonly number[]> {
  await using session = await contender.open(database);
  const count = Math.min(workflows, contender.maximumWorkflows ?? workflows);
  await session.runMany(Math.ceil(count * WARM_UP_SHARE));
  const start = performance.now();
  await session.runMany(count);
  return [(count / (performance.now() - start)) * 1000];
}

import { STEPS } from "../order.ts";
import { WORK_NAMES } from "../work-names.ts";
import type { WorkflowWork } from "../workflow-work.ts";

const FEW = 100;
const MANY = 2000;
/** Long and short stretches take turns, so that noise hits both alike. */
const STRETCHES = 4;

/**
 * Measures whether more workflows in flight slow each other down: a goal for us alone. CPU time shows it even if the speed is
 * noise.
 */
export const inFlight: WorkflowWork = {
  name: WORK_NAMES.inFlight,
  engines: ["sqlite", "postgres"],
  figures: [
    { name: `${FEW} in flight`, unit: "workflows/s", better: "higher" },
    { name: `${MANY} in flight`, unit: "workflows/s", better: "higher" },
    { name: `CPU of Node, ${FEW} in flight`, unit: "µs/workflow", better: "lower" },
    { name: `CPU of Node, ${MANY} in flight`, unit: "µs/workflow", better: "lower" },
    { name: `CPU with ${MANY} in flight ÷ with ${FEW}`, unit: "times", better: "lower" },
  ],
  method: ({ workflows }) =>
    `${workflows} ${STEPS}-step workflows with ${FEW} and as many with ${MANY} in flight, in ${STRETCHES} stretches each that take turns: one is
    started whenever one returns`,

  async run(contender, database, { workflows }) {
    await using session = await contender.open(database);
    const { runInFlight } = session;
    if (runInFlight === undefined) throw new Error(`${contender.name} can't keep a number of workflows in flight`);
    const few = { milliseconds: 0, microseconds: 0 };
    const many = { milliseconds: 0, microseconds: 0 };
    const share = Math.ceil(workflows / STRETCHES);
    const stretch = async (width: number, spent: typeof few) => {
      const cpu = process.cpuUsage();
      const start = performance.now();
      await runInFlight(share, width);
      spent.milliseconds += performance.now() - start;
      const { user, system } = process.cpuUsage(cpu);
      spent.microseconds += user + system;
    };
    await runInFlight(share, MANY); // warms up
    for (let turn = 0; turn < STRETCHES; turn++) {
      await stretch(FEW, few);
      await stretch(MANY, many);
    }
    const count = share * STRETCHES;
    const speeds = [few, many].map(({ milliseconds }) => (count / milliseconds) * 1000);
    const costs = [few, many].map(({ microseconds }) => microseconds / count);
    return [...speeds, ...costs, many.microseconds / few.microseconds];
  },
};

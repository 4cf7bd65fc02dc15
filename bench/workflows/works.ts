import type { WorkflowWork } from "./workflow-work.ts";
import { costs, costsInPostgres } from "./works/costs.ts";
import { inFlight } from "./works/in-flight.ts";
import { manyAtOnce, manyByDefault } from "./works/many-at-once.ts";
import { oneAtATime } from "./works/one-at-a-time.ts";
import { sequentialSteps } from "./works/sequential-steps.ts";
import { twoProcesses } from "./works/two-processes.ts";

export const WORKS: readonly WorkflowWork[] = [
  oneAtATime,
  manyAtOnce,
  manyByDefault,
  sequentialSteps,
  costs,
  costsInPostgres,
  inFlight,
  twoProcesses,
];

import type { WorkflowWork } from "./workflow-work.ts";
import { costs, costsInPostgres } from "./works/costs.ts";
import { manyAtOnce, manyByDefault } from "./works/many-at-once.ts";
import { oneAtATime } from "./works/one-at-a-time.ts";
import { sequentialSteps } from "./works/sequential-steps.ts";

export const WORKS: readonly WorkflowWork[] = [
  oneAtATime,
  manyAtOnce,
  manyByDefault,
  sequentialSteps,
  costs,
  costsInPostgres,
];

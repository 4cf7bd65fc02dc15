import type { WorkflowContender } from "./contender.ts";
import { dbos, dbosDefaults, dbosVariants } from "./dbos.ts";
import { floorPostgres } from "./floor-postgres.ts";
import { floorSqlite } from "./floor-sqlite.ts";
import { openWorkflow, openWorkflowDefaults, openWorkflowVariants } from "./openworkflow.ts";
import { perdureDefaults, perdureTuned } from "./perdure.ts";
import { restate, restateDefaults, restateVariants } from "./restate.ts";

export const CONTENDERS: readonly WorkflowContender[] = [
  perdureTuned("sqlite"),
  perdureDefaults("sqlite"),
  openWorkflow("sqlite"),
  openWorkflowDefaults("sqlite"),
  floorSqlite,
  perdureTuned("postgres"),
  perdureDefaults("postgres"),
  dbos,
  dbosDefaults,
  openWorkflow("postgres"),
  openWorkflowDefaults("postgres"),
  restate,
  restateDefaults,
  floorPostgres,
];

/** The peers with other settings, for `--sweep`. */
export const VARIANTS: readonly WorkflowContender[] = [
  ...openWorkflowVariants("sqlite"),
  ...openWorkflowVariants("postgres"),
  ...dbosVariants,
  ...restateVariants,
];

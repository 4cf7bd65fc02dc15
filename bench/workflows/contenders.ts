import type { WorkflowContender } from "./contender.ts";
import { dbos, dbosDefaults } from "./dbos.ts";
import { floorPostgres } from "./floor-postgres.ts";
import { floorSqlite } from "./floor-sqlite.ts";
import { openWorkflow, openWorkflowDefaults } from "./openworkflow.ts";
import { perdureDefaults, perdureTuned } from "./perdure.ts";

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
  floorPostgres,
];

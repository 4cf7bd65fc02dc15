import type { Work } from "../harness/work.ts";
import type { WorkflowContender } from "./contender.ts";
import type { Scale } from "./scale.ts";

export type WorkflowWork = Work<WorkflowContender, Scale>;

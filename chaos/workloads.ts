import type { Workload } from "./workload.ts";
import { hooksWorkload } from "./workloads/hooks/workload.ts";
import { sharedWorkload } from "./workloads/shared/workload.ts";
import { subjectsWorkload } from "./workloads/subjects/workload.ts";
import { workflowsWorkload } from "./workloads/workflows/workload.ts";

/** Everything that must survive. All of them run at once, in the same processes. */
export const WORKLOADS: readonly Workload[] = [hooksWorkload, workflowsWorkload, subjectsWorkload, sharedWorkload];

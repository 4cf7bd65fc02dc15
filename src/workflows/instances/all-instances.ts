import type { WorkflowRuntime } from "../workflow-runtime.ts";
import { countAllInstances } from "./count-instances.ts";
import type { AllInstanceCounts } from "./instance-counts.ts";
import { listInstances } from "./list-instances.ts";
import type { InstanceListOptions, InstancePage } from "./workflow-binding.ts";

/** The instances of all workflows of an application. */
export interface AllInstances {
  /** How many there are in each status: exact, by reading an index from end to end. */
  counts(): Promise<AllInstanceCounts>;
  /** One page of instances, whatever their workflow. */
  list(options?: InstanceListOptions): Promise<InstancePage>;
}

export function createAllInstances(runtime: WorkflowRuntime): AllInstances {
  return Object.freeze({
    counts: () => countAllInstances(runtime),
    list: (options?: InstanceListOptions) => listInstances(runtime, null, options),
  });
}

import { NotFoundError } from "../../errors.ts";
import type { WorkflowEvents, WorkflowOutput, Workflows } from "../define/workflow-types.ts";
import type { WorkflowRuntime } from "../workflow-runtime.ts";
import { findInstance } from "./find-instance.ts";
import type { WorkflowInstance } from "./instance.ts";
import { countAllInstances } from "./lists/count-instances.ts";
import { listInstances } from "./lists/list-instances.ts";
import type { AllInstanceCounts, CountOptions, InstanceListOptions, InstancePage } from "./workflow-binding.ts";

/** The instances of all workflows of an application. */
export interface AllInstances<Registry extends Workflows = Workflows> {
  /**
   * Returns an instance by the key or name of its workflow and its id; throws `instance.not_found` if there is none. Operators
   * can pass the name of a workflow whose code this process lacks; only if no such instance is stored, that is
   * `workflow.not_found`.
   *
   * @example
   * const order = await app.instances.get("checkout", "order-1");
   */
  get<Key extends keyof Registry & string>(
    workflow: Key,
    id: string,
  ): Promise<WorkflowInstance<WorkflowOutput<Registry[Key]>, WorkflowEvents<Registry[Key]>>>;
  get(workflow: string, id: string): Promise<WorkflowInstance>;
  /**
   * The number of instances in each status, as `counts` of a workflow; of more than ten workflows, fewer of each are counted.
   */
  counts(options?: CountOptions): Promise<AllInstanceCounts>;
  /** One page of instances of all workflows. */
  list(options?: InstanceListOptions): Promise<InstancePage>;
}

async function getInstance(runtime: WorkflowRuntime, workflow: string, id: string): Promise<WorkflowInstance> {
  const { workflows } = runtime;
  const registered = typeof workflow === "string" ? workflows.findText(workflow) : workflows.get(workflow);
  if (registered !== undefined) return findInstance(runtime, registered, id, null);
  return findInstance(runtime, workflows.stored(workflow), id, null).catch((error: unknown) => {
    if (error instanceof NotFoundError) workflows.get(workflow); // says which workflows there are
    throw error;
  });
}

export function createAllInstances<Registry extends Workflows>(runtime: WorkflowRuntime): AllInstances<Registry> {
  const instances: AllInstances = {
    get: (workflow: string, id: string) => getInstance(runtime, workflow, id),
    counts: (options?: CountOptions) => countAllInstances(runtime, options),
    list: (options?: InstanceListOptions) => listInstances(runtime, null, options),
  };
  return Object.freeze(instances) as AllInstances<Registry>;
}

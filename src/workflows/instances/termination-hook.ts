import { isRegistered, type RegisteredWorkflow } from "../define/registered-workflows.ts";
import { endingHookName } from "../define/terminal-hooks.ts";
import type { WorkflowRuntime } from "../workflow-runtime.ts";

/**
 * Whether a workflow has a hook for terminated runs. A process that lacks the workflow's code asks the workers, which say what
 * they run: only a worker can run the hook.
 */
export async function findsTerminationHook(
  { store, namespace }: WorkflowRuntime,
  workflow: RegisteredWorkflow,
): Promise<boolean> {
  if (isRegistered(workflow)) return workflow.endingHooks.terminated !== undefined;
  const hook = endingHookName(workflow.name, "terminated");
  const workers = await store.workers.list(namespace);
  return workers.some(({ work }) => work[namespace]?.hooks.includes(hook) === true);
}

import type { AnyWorkflow, WorkflowInstance } from "../../../src/index.ts";
import { untilStatus, type WorkflowsUnderTest } from "./use-workflows.ts";

/** Runs a workflow until it fails, repairs everything that was broken, and retries the failed step until the instance completes. */
export async function retryRepaired(
  test: WorkflowsUnderTest,
  workflow: AnyWorkflow,
  broken: Set<string>,
): Promise<WorkflowInstance> {
  const { workflows } = test.start({ workflow });
  const instance = (await workflows.workflow.create()) as WorkflowInstance;
  await untilStatus(test.clock, instance, "errored");
  broken.clear();
  await instance.retryFailedStep();
  await untilStatus(test.clock, instance, "complete");
  return instance;
}

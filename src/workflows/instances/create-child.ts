import type { RegisteredWorkflow } from "../define/registered-workflows.ts";
import type { WorkflowRuntime } from "../workflow-runtime.ts";
import type { CreateOptions } from "./create-options.ts";
import { alreadyExists, prepareInstance } from "./prepare-instance.ts";

/** Creates a child, once: what this very step has created before is what it gives again. Gives the child's id. */
export async function createChild(
  runtime: WorkflowRuntime,
  workflow: RegisteredWorkflow,
  options: CreateOptions<unknown> | undefined,
  { parent, id }: { parent: string; id: string },
): Promise<string> {
  const { insert, onConflict } = await prepareInstance(runtime, workflow, { id, ...options }, { parent });
  const [result] = await runtime.create([insert]);
  if (result?.result === "existing" && onConflict === "error") throw alreadyExists(workflow.name, insert.id);
  return insert.id;
}

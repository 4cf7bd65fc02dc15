import { InvalidInputError } from "../errors.ts";
import type { BatchError, DeletedBatch } from "./batches.ts";
import { toBatchError } from "./create-batch.ts";
import { InstanceHandle } from "./instance-handle.ts";
import { checkInstanceId } from "./names.ts";
import type { RegisteredWorkflow } from "./registered-workflows.ts";
import type { WorkflowRuntime } from "./workflow-runtime.ts";

type Deletion = { readonly id: string } | Omit<BatchError, "index">;

/** Deletes them one by one. The answer has one entry for each place of the batch; an id that is there twice is deleted once. */
export async function deleteBatch(
  runtime: WorkflowRuntime,
  workflow: RegisteredWorkflow,
  ids: readonly string[],
  callerRef: string | null,
): Promise<DeletedBatch> {
  const { maxBatchSize } = runtime.workflows.settings;
  if (!Array.isArray(ids) || ids.length > maxBatchSize) {
    throw new InvalidInputError("options.invalid", `deleteBatch takes an array of at most ${maxBatchSize} ids.`);
  }
  const done = new Map<unknown, Deletion>();
  for (const [index, id] of ids.entries()) {
    if (!done.has(id)) done.set(id, await deleteOne(runtime, workflow, id, { index, callerRef }));
  }
  const deletions = ids.map((id, index) => ({ ...(done.get(id) as Deletion), index }));
  return {
    deleted: deletions.flatMap((one) => ("code" in one ? [] : [{ id: one.id }])),
    errors: deletions.flatMap((one) => ("code" in one ? [one] : [])),
  };
}

async function deleteOne(
  runtime: WorkflowRuntime,
  workflow: RegisteredWorkflow,
  id: string,
  { index, callerRef }: { readonly index: number; readonly callerRef: string | null },
): Promise<Deletion> {
  try {
    const checked = checkInstanceId(id, runtime.workflows.settings);
    await new InstanceHandle(runtime, workflow, checked, { callerRef }).delete();
    return { id };
  } catch (error) {
    return toBatchError(error, index, id);
  }
}

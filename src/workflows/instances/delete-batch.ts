import { InvalidInputError } from "../../errors.ts";
import { checkInstanceId } from "../../names.ts";
import type { InstanceRun } from "../../store/instances/instance-records.ts";
import type { RegisteredWorkflow } from "../define/registered-workflows.ts";
import type { WorkflowRuntime } from "../workflow-runtime.ts";
import type { BatchError, DeletedBatch } from "./batches.ts";
import { toBatchError } from "./create-batch.ts";
import { InstanceHandle } from "./instance-handle.ts";

type Deletion = { readonly id: string } | Omit<BatchError, "index">;

interface DeletionOptions {
  /** The instance whose code asks for it, where it is code of a workflow. */
  readonly callerRef?: string | null;
  /** The run in which an instance must be to be deleted. Default: any. */
  readonly only?: ((id: string) => InstanceRun) | undefined;
}

interface DeletionTarget {
  readonly id: string;
  readonly index: number;
  readonly callerRef: string | null;
  readonly only: InstanceRun | undefined;
}

/** Deletes them one by one, with `only` in the runs that it gives. The answer has one entry for each place of the batch; an id that is there twice is deleted once. */
export async function deleteBatch(
  runtime: WorkflowRuntime,
  workflow: RegisteredWorkflow,
  ids: readonly string[],
  { callerRef = null, only }: DeletionOptions = {},
): Promise<DeletedBatch> {
  const { maxBatchSize } = runtime.workflows.settings;
  if (!Array.isArray(ids) || ids.length > maxBatchSize) {
    throw new InvalidInputError("options.invalid", `deleteBatch takes an array of at most ${maxBatchSize} ids.`);
  }
  const done = new Map<unknown, Deletion>();
  for (const [index, id] of ids.entries()) {
    const target = { id, index, callerRef, only: only?.(id) };
    if (!done.has(id)) done.set(id, await deleteOne(runtime, workflow, target));
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
  { id, index, callerRef, only }: DeletionTarget,
): Promise<Deletion> {
  try {
    const checked = checkInstanceId(id, runtime.workflows.settings);
    await new InstanceHandle(runtime, workflow, checked, { callerRef, only }).delete();
    return { id };
  } catch (error) {
    return toBatchError(error, index, id);
  }
}

import { InvalidInputError, NotFoundError, StoreError } from "../../../errors.ts";
import { checkInstanceId } from "../../../names.ts";
import { checkOptions } from "../../../options.ts";
import type { InstanceRun } from "../../../store/instances/instance-records.ts";
import type { Receipt } from "../../../store/request-statements.ts";
import type { RegisteredWorkflow } from "../../define/registered-workflows.ts";
import type { WorkflowRuntime } from "../../workflow-runtime.ts";
import type { WorkflowInstance } from "../instance.ts";
import { InstanceHandle } from "../instance-handle.ts";
import { prepareInstance } from "./create.ts";
import type { BatchError, BatchOptions, CreatedBatch, CreateOptions, DeletedBatch } from "./create-options.ts";

const COUNTED_FIELDS = ["count", "params", "priority", "retention", "timeout", "labels", "locationHint"];

const BATCH_FIELDS = ["instances", ...COUNTED_FIELDS];

type Create = (options: CreateOptions<unknown>) => Promise<WorkflowInstance>;

/**
 * Creates all instances of an array in one statement. Leaves out those whose ids exist, unless their `onConflict` is "return".
 */
export async function createBatch(
  runtime: WorkflowRuntime,
  workflow: RegisteredWorkflow,
  batch: readonly CreateOptions<unknown>[],
): Promise<WorkflowInstance[]> {
  const { maxBatchSize } = runtime.workflows.settings;
  const prepared = await Promise.all(
    checkBatch(batch, maxBatchSize).map((options) => prepareInstance(runtime, workflow, options)),
  );
  const results = await runtime.create(prepared.map(({ insert }) => insert));
  return prepared.flatMap(({ insert, onConflict }, index) => {
    const isNew = results[index]?.result === "created" && results[index]?.ref === insert.ref;
    return isNew || onConflict === "return"
      ? [new InstanceHandle(runtime, workflow, insert.id, { createdRef: isNew ? insert.ref : null })]
      : [];
  });
}

/**
 * Creates the instances independently of each other, and reports the error of each that could not be created. Concurrent
 * creates share one flush.
 */
export async function createIndependently(
  batch: BatchOptions<unknown>,
  create: Create,
  most: number,
): Promise<CreatedBatch> {
  const items = checkBatchOptions(batch, most);
  const results = await Promise.allSettled(items.map((item) => create(item)));
  return {
    created: results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : [])),
    errors: results.flatMap((result, index) =>
      result.status === "rejected" ? [toBatchError(result.reason, index, idOf(items[index]))] : [],
    ),
  };
}

export function checkBatch(batch: readonly CreateOptions<unknown>[], most: number): readonly CreateOptions<unknown>[] {
  if (Array.isArray(batch) && batch.length <= most) return batch;
  throw notABatch(most);
}

/**
 * Reports an error of one item, including one that a step has stored. Rethrows errors of the database, which concern the whole
 * batch.
 */
function toBatchError(error: unknown, index: number, id: unknown): BatchError {
  const code: unknown = Reflect.get(Object(error), "code");
  if (!(error instanceof Error) || typeof code !== "string" || error instanceof StoreError) throw error;
  if (code === "store.closed") throw error;
  return { index, ...(typeof id === "string" ? { id } : {}), code, message: messageOf(error) };
}

/**
 * Checks the batch and lists the options of each instance. A field that is undefined counts as absent, as in Cloudflare's
 * types.
 */
export function checkBatchOptions(batch: BatchOptions<unknown>, most: number): readonly CreateOptions<unknown>[] {
  const { instances, count, ...options } = Object(batch) as Partial<Record<"instances" | "count", unknown>>;
  if (instances === undefined && count === undefined) throw notABatch(most);
  const fields = instances === undefined ? COUNTED_FIELDS : ["instances"];
  const given = Object.entries(batch).filter(([name, value]) => value !== undefined || !BATCH_FIELDS.includes(name));
  checkOptions(Object.fromEntries(given), { label: "createBatch", fields, code: "create.invalid" });
  if (instances !== undefined) return checkBatch(instances as CreateOptions<unknown>[], most);
  if (typeof count !== "number" || !Number.isInteger(count) || count < 0 || count > most) {
    throw new InvalidInputError("create.invalid", `count must be a whole number from 0 to ${most}.`);
  }
  return Array.from({ length: count }, () => options);
}

function messageOf(error: Error): string {
  return (error instanceof NotFoundError ? error.details : undefined) ?? error.message;
}

function notABatch(most: number): InvalidInputError {
  return new InvalidInputError(
    "create.invalid",
    `createBatch takes an array of at most ${most} instances, or { instances } with such an array, or { count, params }.`,
  );
}

function idOf(item: unknown): unknown {
  return Reflect.get(Object(item), "id");
}

type Deletion = { readonly id: string } | Omit<BatchError, "index">;

interface DeletionOptions {
  /** The instance whose code makes the call; null outside a workflow. */
  readonly callerRef?: string | null;
  /** The run that an instance must be in to be deleted. Default: any. */
  readonly only?: ((id: string) => InstanceRun) | undefined;
  /** By which a repeated deletion is recognised. Default: none. */
  readonly receipt?: ((id: string) => Receipt) | undefined;
  /** Whether the caller may see an instance with these labels. Default: all. */
  readonly sees?: ((labels: string | null) => boolean) | undefined;
}

interface DeletionTarget {
  readonly id: string;
  readonly index: number;
  readonly callerRef: string | null;
  readonly only: InstanceRun | undefined;
  readonly receipt: Receipt | undefined;
  readonly sees: DeletionOptions["sees"];
}

/**
 * Deletes instances one by one; with `only`, just those that are still in the run it returns. The answer has one entry per item
 * of the batch, and an id that occurs twice is deleted once.
 */
export async function deleteBatch(
  runtime: WorkflowRuntime,
  workflow: RegisteredWorkflow,
  ids: readonly string[],
  { callerRef = null, only, receipt, sees }: DeletionOptions = {},
): Promise<DeletedBatch> {
  const { maxBatchSize } = runtime.workflows.settings;
  if (!Array.isArray(ids) || ids.length > maxBatchSize) {
    throw new InvalidInputError("options.invalid", `deleteBatch takes an array of at most ${maxBatchSize} ids.`);
  }
  runtime.store.engine.refuseNesting();
  const done = new Map<unknown, Deletion>();
  for (const [index, id] of ids.entries()) {
    const target = { id, index, callerRef, only: only?.(id), receipt: receipt?.(id), sees };
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
  { id, index, callerRef, only, receipt, sees }: DeletionTarget,
): Promise<Deletion> {
  try {
    const checked = checkInstanceId(id, runtime.workflows.settings);
    await new InstanceHandle(runtime, workflow, checked, { callerRef, only, receipt, sees }).delete();
    return { id };
  } catch (error) {
    return toBatchError(error, index, id);
  }
}

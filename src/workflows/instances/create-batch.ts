import { InvalidInputError, NotFoundError, StoreError } from "../../errors.ts";
import { checkOptions } from "../../options.ts";
import type { BatchError, BatchOptions, CreatedBatch } from "./batches.ts";
import type { CreateOptions } from "./create-options.ts";
import type { WorkflowInstance } from "./instance.ts";

const COUNTED_FIELDS = ["count", "params", "priority", "retention", "labels", "locationHint"];

type Create = (options: CreateOptions<unknown>) => Promise<WorkflowInstance>;

/** Creates each for itself, so that what is wrong with one is no matter to the others. Those that are asked for at once are written at once. */
export async function createEach(batch: BatchOptions<unknown>, create: Create, most: number): Promise<CreatedBatch> {
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

/** Errors that are about one item are its own, also if a workflow remembers them; that the database can't be reached is everybody's. */
export function toBatchError(error: unknown, index: number, id: unknown): BatchError {
  const code: unknown = Reflect.get(Object(error), "code");
  if (!(error instanceof Error) || typeof code !== "string" || error instanceof StoreError) throw error;
  if (code === "store.closed") throw error;
  return { index, ...(typeof id === "string" ? { id } : {}), code, message: messageOf(error) };
}

/** The instances that are asked for, one by one. */
export function checkBatchOptions(batch: BatchOptions<unknown>, most: number): readonly CreateOptions<unknown>[] {
  if (Object.hasOwn(Object(batch), "instances")) {
    checkOptions(batch, { label: "createBatch", fields: ["instances"], code: "create.invalid" });
    return checkBatch((batch as { instances: CreateOptions<unknown>[] }).instances, most);
  }
  if (!Object.hasOwn(Object(batch), "count")) throw notABatch(most);
  checkOptions(batch, { label: "createBatch", fields: COUNTED_FIELDS, code: "create.invalid" });
  const { count, ...options } = batch as { count: unknown } & CreateOptions<unknown>;
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

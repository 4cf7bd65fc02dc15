import { checkBatch, checkBatchOptions } from "../workflows/instances/create/batches.ts";
import type {
  BatchError,
  BatchOptions,
  CreatedBatch,
  CreateOptions,
  DeletedBatch,
} from "../workflows/instances/create/create-options.ts";
import type { ShardBatch } from "./answer-call.ts";
import type { RoutedWorkflow } from "./routed-workflow.ts";

export type IdentifiedOptions = CreateOptions<unknown> & { readonly id: string };

export function withId(options: CreateOptions<unknown> = {}): IdentifiedOptions {
  return { ...options, id: options.id ?? crypto.randomUUID() };
}

/** Creates all or none of the instances in each object. */
export async function createOnShards(
  workflow: RoutedWorkflow,
  batch: readonly CreateOptions<unknown>[],
): Promise<CreatedBatch["created"]> {
  const whole = checkBatch(batch, workflow.limits.maxBatchSize).map((options) => withId(options));
  const byShard = Map.groupBy(whole, ({ id }) => workflow.shards.of(id));
  const created = await Promise.all(
    Array.from(byShard, ([shard, some]) => workflow.call(shard, "createBatch", some) as Promise<string[]>),
  );
  const isNew = new Set(created.flat());
  const inOrder = new Set(whole.map(({ id }) => id).filter((id) => isNew.has(id)));
  return [...inOrder].map((id) => workflow.instance(id, workflow.shards.of(id)));
}

/** Creates the instances independently, and reports the error of each that could not be created. */
export async function createEachOnShards(
  workflow: RoutedWorkflow,
  batch: BatchOptions<unknown>,
): Promise<CreatedBatch> {
  const items = checkBatchOptions(batch, workflow.limits.maxBatchSize).map((options, index) => ({
    index,
    options: withId(options),
  }));
  const byShard = Map.groupBy(items, ({ options }) => workflow.shardOf(options.id));
  const answers = await Promise.all(
    Array.from(byShard, async ([shard, some]) => {
      const instances = some.map(({ options }) => options);
      const { created, errors } = (await workflow.call(shard, "createEach", { instances })) as ShardBatch;
      const failed = new Set(errors.map(({ index }) => index));
      const places = some.filter((_, place) => !failed.has(place));
      return {
        created: created.map((id, place) => ({ id, shard, index: places[place]?.index as number })),
        errors: errors.map((error) => ({ ...error, index: some[error.index]?.index as number })),
      };
    }),
  );
  const created = answers.flatMap((one) => one.created).sort((one, other) => one.index - other.index);
  return {
    created: created.map(({ id, shard }) => workflow.instance(id, shard)),
    errors: inOrder(answers.flatMap(({ errors }) => errors)),
  };
}

/** Instances that aren't in the object of their id may have been created by other instances: those are searched for. */
export async function deleteOnShards(workflow: RoutedWorkflow, ids: readonly string[]): Promise<DeletedBatch> {
  checkBatch(ids as never, workflow.limits.maxBatchSize);
  const all = ids.map((id, index) => ({ id, index, shard: workflow.shardOf(id) }));
  const errors = new Map((await deleteWhere(workflow, all)).map((error) => [error.index, error]));
  const lost = all.filter(({ index }) => errors.get(index)?.code === "instance.not_found");
  const elsewhere = await Promise.all(
    lost.map(async ({ id, index, shard }) => ({ id, index, home: shard, shard: await workflow.findOrHome(id) })),
  );
  const found = elsewhere.filter(({ shard, home }) => shard !== home);
  for (const { index } of found) errors.delete(index);
  for (const error of await deleteWhere(workflow, found)) errors.set(error.index, error);
  const deleted = all.filter(({ index }) => !errors.has(index));
  return { deleted: deleted.map(({ id }) => ({ id })), errors: inOrder([...errors.values()]) };
}

interface Place {
  readonly id: string;
  readonly index: number;
  readonly shard: number;
}

async function deleteWhere(workflow: RoutedWorkflow, places: readonly Place[]): Promise<BatchError[]> {
  const byShard = Map.groupBy(places, ({ shard }) => shard);
  const errors = await Promise.all(
    Array.from(byShard, async ([shard, some]) => {
      const ids = some.map(({ id }) => id);
      const answer = (await workflow.call(shard, "deleteBatch", ids)) as DeletedBatch;
      return answer.errors.map((error) => ({ ...error, index: some[error.index]?.index as number }));
    }),
  );
  return errors.flat();
}

function inOrder(errors: readonly BatchError[]): BatchError[] {
  return errors.toSorted((one, other) => one.index - other.index);
}

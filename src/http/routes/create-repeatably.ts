import { ConflictError } from "../../errors.ts";
import { applySchema } from "../../schema.ts";
import { encodeValue } from "../../values/index.ts";
import { checkBatch } from "../../workflows/create-batch.ts";
import type { CreateOptions } from "../../workflows/create-options.ts";
import { prepareInstance } from "../../workflows/prepare-instance.ts";
import type { HttpHost } from "../http-host.ts";
import { idOfKey } from "../idempotency.ts";

type Workflow = Pick<ReturnType<HttpHost["workflow"]>, "runtime" | "registered">;

export interface RepeatedlyCreated {
  readonly id: string;
  readonly workflowName: string;
  /** Another request has created one of this id. */
  readonly refused: boolean;
}

/**
 * Creates instances, or gives those that the same request has created before: a row says by which request it was made, as that of
 * a child names its parent's step. All are checked before any is created. The same request with other params isn't the same:
 * it is refused. An id that follows from the key and the place is given to those that have none.
 */
export async function createRepeatably(
  workflow: Workflow,
  batch: readonly CreateOptions<unknown>[],
  key: string,
): Promise<RepeatedlyCreated[]> {
  const { runtime, registered } = workflow;
  const { maxBatchSize } = runtime.workflows.settings;
  const prepared = await Promise.all(
    checkBatch(batch, maxBatchSize).map(async (options, index) => {
      const suffix = batch.length === 1 ? "" : `-${index}`;
      const id = options.id ?? (await idOfKey(key, suffix));
      return prepareInstance(runtime, registered, { ...options, id }, `http/${key}${suffix}`);
    }),
  );
  const results = await runtime.create(prepared.map(({ insert }) => insert));
  for (const [index, { insert }] of prepared.entries()) {
    const { result, ref } = results[index] ?? {};
    const repeated = result === "created" && ref !== insert.ref;
    if (repeated && !(await isCreatedWith(workflow, insert.id, batch[index]?.params))) {
      throw new ConflictError("http.idempotency_conflict", "The Idempotency-Key was used before, with other params.");
    }
  }
  return prepared.map(({ insert: { id }, onConflict }, index) => ({
    id,
    workflowName: registered.name,
    refused: results[index]?.result === "existing" && onConflict === "error",
  }));
}

async function isCreatedWith({ runtime, registered }: Workflow, id: string, params: unknown): Promise<boolean> {
  const name = { namespace: runtime.namespace, name: registered.name, id };
  const [record] = await runtime.store.instances.statements.find([name]);
  if (record === null || record === undefined) return true; // it has ended, and was deleted, since
  const input = registered.definition?.input ?? null;
  const prepare = async () => encodeValue(await applySchema(input, params, "params", "params.invalid"));
  const [once, twice] = [await prepare(), await prepare()];
  // What a schema makes of the same params may differ each time: a default that is the present time. Then nothing can be said.
  return once !== twice || once === record.params;
}

import { ConflictError } from "../../errors.ts";
import { applySchema } from "../../schema.ts";
import { encodeValue } from "../../values/index.ts";
import type { CreateOptions } from "../../workflows/create-options.ts";
import type { WorkflowInstance } from "../../workflows/instance.ts";
import type { HttpHost } from "../http-host.ts";

type Workflow = ReturnType<HttpHost["workflow"]>;

/**
 * Creates an instance, or gives the one that the same request has created before. The same id with other params isn't the same
 * request: it is refused.
 */
export async function createRepeatably(
  workflow: Workflow,
  options: CreateOptions<unknown> & { readonly id: string },
): Promise<WorkflowInstance> {
  const instance = await workflow.binding.create({ ...options, onConflict: "return" });
  if (await isCreatedWith(workflow, options)) return instance;
  throw new ConflictError(
    "http.idempotency_conflict",
    `The Idempotency-Key, or the id "${options.id}", was used before with other params.`,
  );
}

async function isCreatedWith(
  { runtime, registered }: Workflow,
  { id, params }: CreateOptions<unknown>,
): Promise<boolean> {
  const name = { namespace: runtime.namespace, name: registered.name, id: id as string };
  const [record] = await runtime.store.instances.statements.find([name]);
  if (record === null || record === undefined) return true; // it has ended, and was deleted, since
  const input = registered.definition?.input ?? null;
  const prepare = async () => encodeValue(await applySchema(input, params, "params", "params.invalid"));
  const [once, twice] = [await prepare(), await prepare()];
  // What a schema makes of the same params may differ each time: a default that is the present time. Then nothing can be said.
  return once !== twice || once === record.params;
}

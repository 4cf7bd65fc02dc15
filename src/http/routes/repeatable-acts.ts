import { ConflictError } from "../../errors.ts";
import { applySchema } from "../../schema.ts";

import type { InstanceRun } from "../../store/instances/instance-records.ts";

import type { Receipt } from "../../store/request-statements.ts";

import { encodeValue } from "../../values/index.ts";
import { createInstance } from "../../workflows/instances/create.ts";
import type { CreateOptions } from "../../workflows/instances/create-options.ts";
import type { WorkflowInstance } from "../../workflows/instances/instance.ts";
import { InstanceHandle } from "../../workflows/instances/instance-handle.ts";
import type { HttpHost } from "../http-host.ts";
import type { Receipts } from "../requests/repeatable-request.ts";
import type { Call } from "./route.ts";

type InstanceCall = Pick<
  Call<{ readonly workflowName: string; readonly instanceId: string }>,
  "host" | "params" | "repeatable"
>;

/** Does something to an instance. A request that may be repeated does it to the run that it first met, and once. */
export async function actOnce(
  { host, params, repeatable }: InstanceCall,
  act: (instance: InstanceHandle) => Promise<void>,
): Promise<void> {
  if (repeatable === null) {
    await act(host.instance(params));
    return;
  }
  const perform = async (only?: InstanceRun, receipts?: Receipts) => {
    await act(host.instance(params, { only, receipt: receipts?.() }));
    return null;
  };
  await repeatable.once({ find: () => host.findRun(params), perform, refuse: () => perform() });
}

type Workflow = Pick<ReturnType<HttpHost["workflow"]>, "runtime" | "registered">;

/**
 * Creates an instance, or gives the one that the same request has created before: a row says by which request it was made, as
 * that of a child names its parent's step. The same request with other params isn't the same: it is refused.
 */
export async function createRepeatably(
  workflow: Workflow,
  options: CreateOptions<unknown>,
  { hash, ref, receipt }: { readonly hash: string; readonly ref: string; readonly receipt: Receipt },
): Promise<WorkflowInstance> {
  const { runtime, registered } = workflow;
  const origin = { parent: `http/${hash}`, ref, receipt };
  const { insert, outcome } = await createInstance(runtime, registered, options, origin);
  if (outcome === "repeated" && !(await isCreatedWith(workflow, insert.id, options.params))) {
    throw new ConflictError("http.idempotency_conflict", "The Idempotency-Key was used before, with other params.");
  }
  return new InstanceHandle(runtime, registered, insert.id);
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

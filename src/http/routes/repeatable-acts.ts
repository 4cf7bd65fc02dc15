import { ConflictError } from "../../errors.ts";
import { applySchema } from "../../schema.ts";
import type { InstanceRun } from "../../store/instances/instance-records.ts";
import type { Receipt } from "../../store/request-statements.ts";
import { encodeValue } from "../../values/index.ts";
import { createInstance } from "../../workflows/instances/create/create.ts";
import type { CreateOptions } from "../../workflows/instances/create/create-options.ts";
import type { WorkflowInstance } from "../../workflows/instances/instance.ts";
import { InstanceHandle } from "../../workflows/instances/instance-handle.ts";
import type { HttpHost } from "../http-host.ts";
import type { OnceOnly, Receipts, RepeatableRequest } from "../requests/repeatable-request.ts";
import type { Call } from "./route.ts";

type InstanceCall = Pick<
  Call<{ readonly workflowName: string; readonly instanceId: string }>,
  "host" | "params" | "repeatable" | "scope"
>;

/** Acts on an instance. A request with a key acts once, and only on the run that the instance had when it first arrived. */
export async function actOnce(
  { host, params, repeatable, scope }: InstanceCall,
  act: (instance: InstanceHandle) => Promise<void>,
): Promise<void> {
  const perform = async (only?: InstanceRun, receipts?: Receipts) => {
    await act(host.instance(params, scope, { only, receipt: receipts?.() }));
    return null;
  };
  // A caller that doesn't see every instance acts on the very one that it was seen to be allowed to.
  const performUnknown = async () => perform(scope.narrowed ? await host.requireRun(params, scope) : undefined);
  if (repeatable === null) {
    await performUnknown();
    return;
  }
  const find = async () => (await host.findRuns([params], scope))[0] ?? null;
  await repeatable.once({ find, perform, refuse: performUnknown });
}

/**
 * Acts once, and gives a repeated request the first answer, which is stored and so must contain no users' values. If the server
 * is lost between the act and its answer, a repeated request acts again: that must be harmless.
 */
export async function answerOnce<Answer>(
  repeatable: RepeatableRequest | null,
  act: () => Promise<Answer>,
): Promise<Answer> {
  return repeatable === null ? act() : repeatable.once({ find: async () => ({}), perform: act, refuse: act });
}

type Workflow = Pick<ReturnType<HttpHost["workflow"]>, "runtime" | "registered">;

/** The refs of new instances are stored before they are created, so that a repeated request creates the same instances. */
export function newRefs(
  { runtime }: Workflow,
  count: number,
): Pick<OnceOnly<readonly string[], never>, "find" | "refuse"> {
  const find = async () => Array.from({ length: count }, () => runtime.store.createId());
  const refuse = () => Promise.reject(new Error("Creating always has a target."));
  return { find, refuse };
}

/** Creates an instance with the labels of the caller. It isn't told of an instance that it doesn't see. */
export async function createWithin(
  { host, scope, workflowName }: Pick<Call, "host" | "scope"> & { readonly workflowName: string },
  options: CreateOptions<unknown>,
  create: (options: CreateOptions<unknown>) => Promise<WorkflowInstance>,
): Promise<WorkflowInstance> {
  if (!scope.narrowed) return create(options);
  const labelled = { ...options, labels: scope.labelsOfNew(options.labels) };
  if (options.onConflict !== "return") return create(labelled);
  try {
    return await create({ ...labelled, onConflict: "error" });
  } catch (error) {
    const exists = error instanceof ConflictError && error.code === "instance.already_exists";
    const existing = { workflowName, instanceId: options.id ?? "" };
    if (!exists || (await host.findRuns([existing], scope))[0] === null) throw error;
    return host.instance(existing, scope);
  }
}

/**
 * Creates an instance, or returns the one that the same request has created before: the row names the request, as a child's row
 * names its parent's step. A request with the same key and other params is refused.
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
  if (record === null || record === undefined) return true; // it has been deleted since
  const input = registered.definition?.input ?? null;
  const prepare = async () => encodeValue(await applySchema(input, params, "params", "params.invalid"));
  const [once, twice] = [await prepare(), await prepare()];
  // A schema may give different results for the same params, such as a default of the present time. Then they can't be
  // compared.
  return once !== twice || once === record.params;
}

import { InvalidInputError } from "../errors.ts";
import type { AnyFragment } from "../fragment/fragment.ts";
import { createBindings } from "../workflows/create-bindings.ts";
import type { WorkflowInstance } from "../workflows/instance.ts";
import type { BindingOf, InstanceListOptions, InstancePage } from "../workflows/workflow-binding.ts";
import type { WorkflowRuntime } from "../workflows/workflow-runtime.ts";
import type { AnyWorkflow } from "../workflows/workflow-types.ts";
import { decodeCall, encodeAnswer, type ShardCall } from "./shard-call.ts";

type AnyBinding = BindingOf<AnyWorkflow>;
type Operation<Subject> = (subject: Subject, ...parameters: never[]) => Promise<unknown>;

const OF_INSTANCES: Readonly<Record<string, Operation<WorkflowInstance<unknown, never>>>> = {
  exists: async () => true,
  status: (instance) => instance.status(),
  result: (instance, options) => instance.result(options),
  sendEvent: (instance, event) => instance.sendEvent(event),
  pause: (instance) => instance.pause(),
  resume: (instance) => instance.resume(),
  retryFailedStep: (instance) => instance.retryFailedStep(),
  terminate: (instance, ...options) => (instance.terminate as (...options: never[]) => Promise<void>)(...options),
  restart: (instance, ...options) => (instance.restart as (...options: never[]) => Promise<void>)(...options),
  delete: (instance) => instance.delete(),
  history: (instance, options) => instance.history(options),
};

/** A page whose instances say where they are in the order of all objects. */
export interface ShardPage extends InstancePage {
  readonly refs: readonly string[];
}

/** Does what a router asks of this object. */
export function answerCall(parts: AnyFragment["parts"], text: string): Promise<string> {
  return encodeAnswer(async () => {
    const call = decodeCall(text);
    const runtime = parts.workflows as WorkflowRuntime;
    const binding = createBindings(runtime)[call.workflow];
    if (binding === undefined) throw unknown(`no workflow "${call.workflow}"`);
    return call.id === null ? ofWorkflow(runtime, binding, call) : ofInstance(binding, call, call.id);
  });
}

async function ofInstance(binding: AnyBinding, { operation, parameters }: ShardCall, id: string): Promise<unknown> {
  const body = Object.hasOwn(OF_INSTANCES, operation) ? OF_INSTANCES[operation] : undefined;
  if (body === undefined) throw unknown(`no operation "${operation}"`);
  const instance = (await binding.get(id)) as unknown as WorkflowInstance<unknown, never>;
  return body(instance, ...(parameters as never[]));
}

async function ofWorkflow(
  runtime: WorkflowRuntime,
  binding: AnyBinding,
  { operation, parameters }: ShardCall,
): Promise<unknown> {
  if (operation === "create") return (await binding.create(parameters[0] as never)).id;
  if (operation === "createBatch") return (await binding.createBatch(parameters[0] as never)).map(({ id }) => id);
  if (operation === "list") return list(runtime, binding, parameters[0] as InstanceListOptions);
  throw unknown(`no operation "${operation}"`);
}

async function list(runtime: WorkflowRuntime, binding: AnyBinding, options: InstanceListOptions): Promise<ShardPage> {
  const page = await binding.list(options);
  const names = page.instances.map(({ id, workflowName: name }) => ({ namespace: runtime.namespace, name, id }));
  const records = await runtime.store.instances.statements.find(names);
  // One that was deleted since is left out, and so is its place in the order.
  const kept = page.instances.flatMap((instance, index) => {
    const ref = records[index]?.ref;
    return ref === undefined ? [] : [{ instance, ref }];
  });
  return { instances: kept.map(({ instance }) => instance), refs: kept.map(({ ref }) => ref), cursor: page.cursor };
}

/** The Worker and the object are of different versions. */
function unknown(problem: string): InvalidInputError {
  return new InvalidInputError("object.call_invalid", `The object has ${problem}, which a router asked for.`);
}

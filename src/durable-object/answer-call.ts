import { auditBindings } from "../app/audited.ts";
import { InvalidInputError } from "../errors.ts";
import type { AnyFragment } from "../fragment/fragment.ts";
import type { AuditTrail } from "../monitoring/audit.ts";
import { describeError } from "../values/index.ts";
import type { AnyWorkflow } from "../workflows/define/workflow-types.ts";
import { createBindings } from "../workflows/instances/create/create-bindings.ts";
import type { BatchError, BatchOptions } from "../workflows/instances/create/create-options.ts";
import type { WorkflowInstance } from "../workflows/instances/instance.ts";
import type { BindingOf } from "../workflows/instances/typed-bindings.ts";
import type { CountOptions, InstanceListOptions, InstancePage } from "../workflows/instances/workflow-binding.ts";
import { completeToken, openToken } from "../workflows/tokens/complete-token.ts";
import {
  type SubscribeOptions,
  startOf,
  type WorkflowInstanceSubscription,
} from "../workflows/views/instance-event.ts";
import type { WorkflowRuntime } from "../workflows/workflow-runtime.ts";
import { decodeCall, encodeAnswer, type ShardCall } from "./shard-call.ts";
import { encodeLine, type StreamLine } from "./stream-line.ts";

type AnyBinding = BindingOf<AnyWorkflow>;
type Operation<Subject> = (subject: Subject, ...parameters: never[]) => Promise<unknown>;

const OF_INSTANCES: Readonly<Record<string, Operation<WorkflowInstance<unknown, never>>>> = {
  exists: async () => true,
  status: (instance) => instance.status(),
  result: (instance, options) => instance.result(options),
  sendEvent: (instance, event) => instance.sendEvent(event),
  pause: (instance, options) => instance.pause(options),
  resume: (instance) => instance.resume(),
  retryFailedStep: (instance) => instance.retryFailedStep(),
  terminate: (instance, ...options) => (instance.terminate as (...options: never[]) => Promise<void>)(...options),
  restart: (instance, ...options) => (instance.restart as (...options: never[]) => Promise<void>)(...options),
  delete: (instance) => instance.delete(),
  explain: (instance) => instance.explain(),
  unreceivedEvents: (instance) => instance.unreceivedEvents(),
  history: (instance, options) => instance.history(options),
};

/** A page whose instances say where they are in the order of all objects. */
export interface ShardPage extends InstancePage {
  readonly refs: readonly string[];
}

/** The outcome for the instances that belong to this object. */
export interface ShardBatch {
  readonly created: readonly string[];
  readonly errors: readonly BatchError[];
}

/** Executes a router's call on this object. */
export function answerCall(parts: AnyFragment["parts"], text: string, audit: AuditTrail | null): Promise<string> {
  return encodeAnswer(async () => {
    const call = decodeCall(text);
    if (call.workflow === null) return ofTokens(parts.workflows as WorkflowRuntime, call);
    const binding = bindingOf(parts, call, audit);
    if (call.id !== null) return ofInstance(binding, call, call.id);
    return ofWorkflow(parts.workflows as WorkflowRuntime, binding, call);
  });
}

/** The workflow that a call is about. */
function bindingOf(
  { workflows }: AnyFragment["parts"],
  { workflow }: ShardCall,
  audit: AuditTrail | null = null,
): AnyBinding {
  const runtime = workflows as WorkflowRuntime;
  const registered = workflow === null ? undefined : runtime.workflows.find(workflow);
  if (registered === undefined) throw unknown(`no workflow "${workflow}"`);
  const bindings = createBindings(runtime);
  const audited = audit === null ? bindings : auditBindings(bindings, (key) => runtime.workflows.get(key).name, audit);
  return audited[registered.key] as AnyBinding;
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
  if (operation === "createEach") return answerCreateEach(binding, parameters[0] as BatchOptions<unknown>);
  if (operation === "deleteBatch") return binding.deleteBatch(parameters[0] as readonly string[]);
  if (operation === "restartOrCreate") return (await binding.restartOrCreate(parameters[0] as never)).outcome;
  if (operation === "createOrSend") return (await binding.createOrSend(parameters[0] as never)).outcome;
  if (operation === "sendEventToAll") return binding.sendEventToAll(parameters[0] as never);
  if (operation === "counts") return binding.counts(parameters[0] as CountOptions);
  if (operation === "versions") return binding.versions();
  if (operation === "list") return list(runtime, binding, parameters[0] as InstanceListOptions);
  throw unknown(`no operation "${operation}"`);
}

async function ofTokens(runtime: WorkflowRuntime, { operation, parameters }: ShardCall): Promise<unknown> {
  const [token, payload] = parameters as [string, unknown];
  if (operation === "readToken") {
    const { name, id } = await openToken(runtime, token);
    return { name, id };
  }
  if (operation === "completeToken") return completeToken(runtime, token, payload);
  throw unknown(`no operation "${operation}"`);
}

async function answerCreateEach(binding: AnyBinding, batch: BatchOptions<unknown>): Promise<ShardBatch> {
  const { created, errors } = await binding.createBatch(batch as never as BatchOptions<never>);
  return { created: created.map(({ id }) => id), errors };
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

/** Streams the events of an instance of this object to a router. Each line is made when it is requested. */
export function answerSubscription(parts: AnyFragment["parts"], text: string): ReadableStream<Uint8Array> {
  let subscription: WorkflowInstanceSubscription | undefined;
  let isOver = false;

  const open = async (): Promise<StreamLine> => {
    const call = decodeCall(text);
    const options = (call.parameters[0] ?? {}) as SubscribeOptions;
    const instance = await bindingOf(parts, call).get(call.id as string);
    const { run } = await instance.status();
    subscription = await instance.subscribe(options);
    if (isOver) await subscription.return();
    return { opened: options.cursor ?? startOf(run) };
  };
  const next = async (): Promise<StreamLine> => {
    try {
      if (subscription === undefined) return await open();
      const { done, value } = await subscription.next();
      return done ? { end: true } : { event: value };
    } catch (error) {
      return { error: error instanceof Error ? error : new Error(describeError(error).message) };
    }
  };

  return new ReadableStream({
    type: "bytes", // no others leave an object
    pull: async (controller: ReadableByteStreamController) => {
      const line = await next();
      if (isOver) return;
      controller.enqueue(encodeLine(line) as Uint8Array<ArrayBuffer>);
      if (!("end" in line || "error" in line)) return;
      controller.close();
      controller.byobRequest?.respond(0);
    },
    cancel: async () => {
      isOver = true;
      await subscription?.return();
    },
  });
}

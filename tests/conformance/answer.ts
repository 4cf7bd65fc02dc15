import { show, withSpecial } from "./show.ts";
import { notesOf, openGate } from "./world.ts";

/** What is asked of a workflow, of one of its instances, or of the world that they share with us. As JSON. */
export interface Call {
  readonly operation: string;
  /** Of the instance. */
  readonly id?: string;
  readonly parameters?: readonly unknown[];
}

export type Answer = { readonly value: unknown } | { readonly refused: { name: string; message: string } };

/** A workflow, Cloudflare's or ours. */
export interface AnyBinding {
  create(options?: object): Promise<AnyInstance>;
  createBatch(batch: readonly object[]): Promise<readonly AnyInstance[]>;
  deleteBatch?(ids: readonly string[]): Promise<object>;
  get(id: string): Promise<AnyInstance>;
}

export interface AnyInstance {
  readonly id: string;
  status(): Promise<AnyStatus>;
  subscribe?(options?: object): Promise<{ next(): Promise<{ done?: boolean; value?: unknown }> }>;
}

export interface AnyStatus {
  readonly status: string;
  readonly output?: unknown;
  readonly error?: { readonly name: string; readonly message: string };
  readonly rollback?: unknown;
  /** Cloudflare's local engine tells what steps gave. */
  readonly __LOCAL_DEV_STEP_OUTPUTS?: readonly unknown[];
}

/** What the steps of an instance gave, where its status doesn't say. */
export type StepResults = (instance: AnyInstance) => Promise<readonly unknown[]>;

/** Answers where the workflow is. */
export async function answer(binding: AnyBinding, call: Call, stepResults?: StepResults): Promise<Answer> {
  try {
    return { value: show(await doCall(binding, withSpecial(call), stepResults)) };
  } catch (error) {
    const { name, message } = error as Error;
    return { refused: { name, message } };
  }
}

async function doCall(binding: AnyBinding, call: Call, stepResults?: StepResults): Promise<unknown> {
  const { operation, id, parameters = [] } = call;
  if (id === undefined) return ofBinding(binding, operation, parameters);
  if (operation === "notes") return notesOf(id);
  if (operation === "open") return openGate(id, parameters[0] as string);
  const instance = await binding.get(id);
  if (operation === "status") return statusOf(instance, stepResults);
  if (operation === "events") return eventsOf(instance, parameters[0] as object | undefined);
  const method = Reflect.get(instance, operation) as (...parameters: readonly unknown[]) => Promise<unknown>;
  return method.call(instance, ...parameters);
}

async function ofBinding(binding: AnyBinding, operation: string, parameters: readonly unknown[]): Promise<unknown> {
  if (operation === "create") return (await binding.create(parameters[0] as object | undefined)).id;
  if (operation === "get") return (await binding.get(parameters[0] as string)).id;
  if (operation === "createBatch") return (await binding.createBatch(parameters[0] as object[])).map(({ id }) => id);
  return binding.deleteBatch?.(parameters[0] as string[]);
}

async function statusOf(instance: AnyInstance, stepResults?: StepResults): Promise<object> {
  const { status, output = null, error, rollback, __LOCAL_DEV_STEP_OUTPUTS: theirs = [] } = await instance.status();
  const steps = stepResults === undefined ? theirs : await stepResults(instance);
  const shown = error ? { name: error.name, message: error.message } : null;
  return { status, output, error: shown, ...(rollback !== undefined && { rollback }), steps };
}

/** To the end of its run. */
async function eventsOf(instance: AnyInstance, options?: object): Promise<unknown[]> {
  const subscription = await instance.subscribe?.(options);
  const events: unknown[] = [];
  for (;;) {
    const { done = true, value } = (await subscription?.next()) ?? {};
    if (done) return events;
    events.push(value);
  }
}

import type { RegisteredWorkflow } from "../../define/registered-workflows.ts";
import type { WorkflowStep } from "../../define/step.ts";
import type { AnyWorkflow } from "../../define/workflow-types.ts";
import { warnOfReplays } from "../../replay-warning.ts";
import type { WorkflowRuntime } from "../../workflow-runtime.ts";
import { findInstance } from "../find-instance.ts";
import type { WorkflowInstance } from "../instance.ts";
import { InstanceHandle, type ResultCaller } from "../instance-handle.ts";
import { countInstances } from "../lists/count-instances.ts";
import { listInstances } from "../lists/list-instances.ts";
import { listVersions } from "../lists/list-versions.ts";
import { sendToAll } from "../send-to-all.ts";
import type { BindingOf } from "../typed-bindings.ts";
import type { CountOptions, LabelledEvent, WorkflowBindings } from "../workflow-binding.ts";
import { checkBatch, createBatch, createIndependently, deleteBatch } from "./batches.ts";
import { createInstance } from "./create.ts";
import type { BatchOptions, CreateOptions, CreateOrSendOptions, RestartOptions } from "./create-options.ts";
import { createOrSend } from "./create-or-send.ts";
import { restartOrCreate } from "./restart-or-create.ts";

type AnyBinding = BindingOf<AnyWorkflow>;

/** The instance whose code uses the bindings. */
export interface CallingInstance {
  readonly ref: string;
  readonly step: WorkflowStep & ResultCaller;
}

/**
 * The workflows by their keys. With a caller (the code of an instance), each `create` is a step of that instance and happens
 * once, and an instance that terminates, restarts or deletes itself stops running.
 */
export function createBindings(runtime: WorkflowRuntime, caller: CallingInstance | null = null): WorkflowBindings {
  const bindings = runtime.workflows.all.map((workflow) => [workflow.key, createBinding(runtime, workflow, caller)]);
  return Object.freeze(Object.fromEntries(bindings)) as WorkflowBindings;
}

function createBinding(
  runtime: WorkflowRuntime,
  workflow: RegisteredWorkflow,
  caller: CallingInstance | null,
): AnyBinding {
  const step = caller?.step ?? null;
  const callerRef = caller?.ref ?? null;
  const create = (options?: CreateOptions<unknown>) =>
    step === null
      ? createOne(runtime, workflow, options)
      : (step.create(workflow.name, options) as Promise<WorkflowInstance>);
  const { maxBatchSize } = runtime.workflows.settings;
  const createAll = (batch: readonly CreateOptions<unknown>[]) =>
    step === null
      ? createMany(runtime, workflow, batch)
      : Promise.all(checkBatch(batch, maxBatchSize).map((options) => create(options))); // in order: each is a separate step
  return {
    create,
    createBatch: async (batch: readonly CreateOptions<unknown>[] | BatchOptions<unknown>) =>
      Array.isArray(batch)
        ? createAll(batch)
        : createIndependently(batch as BatchOptions<unknown>, create, maxBatchSize),
    restartOrCreate: (options: RestartOptions<unknown>) => restartOrCreate(runtime, workflow, options),
    createOrSend: (options: CreateOrSendOptions<unknown, string, unknown>) => createOrSend(runtime, workflow, options),
    sendEventToAll: (event: LabelledEvent<string, unknown>) => sendToAll(runtime, workflow, event),
    deleteBatch: (ids) => deleteBatch(runtime, workflow, ids, { callerRef }),
    get: (id) => findInstance(runtime, workflow, id, caller),
    list: (options) => listInstances(runtime, workflow.name, options),
    counts: (options?: CountOptions) => countInstances(runtime, workflow.name, options),
    versions: () => listVersions(runtime, workflow),
  } as AnyBinding;
}

async function createOne(
  runtime: WorkflowRuntime,
  workflow: RegisteredWorkflow,
  options: CreateOptions<unknown> | undefined,
): Promise<WorkflowInstance> {
  warnOfReplays(runtime.store, { createdWorkflow: workflow.name }, options?.id);
  const { insert, outcome } = await createInstance(runtime, workflow, options);
  return new InstanceHandle(runtime, workflow, insert.id, { createdRef: outcome === "new" ? insert.ref : null });
}

function createMany(
  runtime: WorkflowRuntime,
  workflow: RegisteredWorkflow,
  batch: readonly CreateOptions<unknown>[],
): Promise<WorkflowInstance[]> {
  for (const options of batch) warnOfReplays(runtime.store, { createdWorkflow: workflow.name }, options?.id);
  return createBatch(runtime, workflow, batch);
}

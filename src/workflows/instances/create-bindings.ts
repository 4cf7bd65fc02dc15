import { checkInstanceId } from "../../names.ts";
import type { RegisteredWorkflow } from "../define/registered-workflows.ts";
import type { WorkflowStep } from "../define/step.ts";
import type { AnyWorkflow } from "../define/workflow-types.ts";
import type { WorkflowRuntime } from "../workflow-runtime.ts";
import type { BatchOptions } from "./batches.ts";
import { countInstances } from "./count-instances.ts";
import { checkBatch, createEach } from "./create-batch.ts";
import type { CreateOptions } from "./create-options.ts";
import { deleteBatch } from "./delete-batch.ts";
import type { WorkflowInstance } from "./instance.ts";
import { InstanceHandle } from "./instance-handle.ts";
import { listInstances } from "./list-instances.ts";
import { notFound } from "./not-found.ts";
import { alreadyExists, prepareInstance } from "./prepare-instance.ts";
import type { RestartOptions } from "./restart-options.ts";
import { restartOrCreate } from "./restart-or-create.ts";
import type { BindingOf, WorkflowBindings } from "./workflow-binding.ts";

type AnyBinding = BindingOf<AnyWorkflow>;

/** What bindings inside of a workflow know of the instance that uses them. */
export interface CallingInstance {
  readonly ref: string;
  readonly step: WorkflowStep;
}

/**
 * The workflows by their keys. Inside of a workflow, where its instance is given, what is created is created once, as a step is, and
 * an instance that ends, restarts or deletes itself doesn't go on.
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
      ? createInstance(runtime, workflow, options)
      : (step.create(workflow.name, options) as Promise<WorkflowInstance>);
  const { maxBatchSize } = runtime.workflows.settings;
  const createAll = (batch: readonly CreateOptions<unknown>[]) =>
    step === null
      ? createBatch(runtime, workflow, batch)
      : Promise.all(checkBatch(batch, maxBatchSize).map((options) => create(options))); // in order: each is a step of its own
  return {
    create,
    createBatch: async (batch: readonly CreateOptions<unknown>[] | BatchOptions<unknown>) =>
      Array.isArray(batch) ? createAll(batch) : createEach(batch as BatchOptions<unknown>, create, maxBatchSize),
    restartOrCreate: (options: RestartOptions<unknown>) => restartOrCreate(runtime, workflow, options),
    deleteBatch: (ids) => deleteBatch(runtime, workflow, ids, { callerRef }),
    get: (id) => getInstance(runtime, workflow, id, callerRef),
    list: (options) => listInstances(runtime, workflow.name, options),
    counts: () => countInstances(runtime, workflow.name),
  } as AnyBinding;
}

async function createInstance(
  runtime: WorkflowRuntime,
  workflow: RegisteredWorkflow,
  options: CreateOptions<unknown> | undefined,
): Promise<WorkflowInstance> {
  const { insert, onConflict } = await prepareInstance(runtime, workflow, options);
  const [result] = await runtime.create([insert]);
  if (result?.result === "existing" && onConflict === "error") throw alreadyExists(workflow.name, insert.id);
  return new InstanceHandle(runtime, workflow, insert.id, {
    createdRef: result?.ref === insert.ref ? insert.ref : null,
  });
}

async function createBatch(
  runtime: WorkflowRuntime,
  workflow: RegisteredWorkflow,
  batch: readonly CreateOptions<unknown>[],
): Promise<WorkflowInstance[]> {
  const { maxBatchSize } = runtime.workflows.settings;
  const prepared = await Promise.all(
    checkBatch(batch, maxBatchSize).map((options) => prepareInstance(runtime, workflow, options)),
  );
  const results = await runtime.create(prepared.map(({ insert }) => insert));
  return prepared.flatMap(({ insert, onConflict }, index) => {
    const isNew = results[index]?.result === "created" && results[index]?.ref === insert.ref;
    return isNew || onConflict === "return"
      ? [new InstanceHandle(runtime, workflow, insert.id, { createdRef: isNew ? insert.ref : null })]
      : [];
  });
}

async function getInstance(
  runtime: WorkflowRuntime,
  workflow: RegisteredWorkflow,
  id: string,
  callerRef: string | null,
): Promise<WorkflowInstance> {
  const name = {
    namespace: runtime.namespace,
    name: workflow.name,
    id: checkInstanceId(id, runtime.workflows.settings),
  };
  const [record] = await runtime.store.instances.statements.find([name]);
  if (record === null || record === undefined) throw notFound(workflow.name, id);
  return new InstanceHandle(runtime, workflow, id, { callerRef });
}

import { decodeCursor, encodeCursor } from "../cursor.ts";
import { InvalidInputError } from "../errors.ts";
import { checkOptions } from "../options.ts";
import type { InstanceFilter, InstanceStatus } from "../store/instance-records.ts";
import { timeOfDate } from "../values/index.ts";
import type { CreateOptions } from "./create-options.ts";
import type { WorkflowInstance } from "./instance.ts";
import { InstanceHandle, toState } from "./instance-handle.ts";
import { checkId } from "./names.ts";
import { notFound } from "./not-found.ts";
import { alreadyExists, prepareInstance } from "./prepare-instance.ts";
import { checkLimit } from "./read-history.ts";
import type { RegisteredWorkflow } from "./registered-workflows.ts";
import type { WorkflowStep } from "./step.ts";
import type { InstanceListOptions, InstancePage, WorkflowBinding, WorkflowBindings } from "./workflow-binding.ts";
import type { WorkflowRuntime } from "./workflow-runtime.ts";

type AnyBinding = WorkflowBinding<unknown, unknown, never>;

const MOST_IN_BATCH = 100;
const LIST_FIELDS = ["status", "createdFrom", "createdBefore", "order", "limit", "cursor"];
const STATUSES: readonly unknown[] = [
  "queued",
  "running",
  "waiting",
  "waitingForPause",
  "paused",
  "complete",
  "errored",
  "terminated",
] satisfies InstanceStatus[];

/** The workflows by their keys. Inside of a workflow, where `step` is given, what is created is created once, as a step is. */
export function createBindings(runtime: WorkflowRuntime, step: WorkflowStep | null = null): WorkflowBindings {
  const bindings = runtime.workflows.all.map((workflow) => [workflow.key, createBinding(runtime, workflow, step)]);
  return Object.freeze(Object.fromEntries(bindings)) as WorkflowBindings;
}

function createBinding(runtime: WorkflowRuntime, workflow: RegisteredWorkflow, step: WorkflowStep | null): AnyBinding {
  const create = (options?: CreateOptions<unknown>) =>
    step === null
      ? createInstance(runtime, workflow, options)
      : (step.create(workflow.name, options) as Promise<WorkflowInstance>);
  return {
    create,
    createBatch: (batch) =>
      step === null ? createBatch(runtime, workflow, batch) : createEach(checkBatch(batch), create),
    get: (id) => getInstance(runtime, workflow, id),
    list: (options) => listInstances(runtime, workflow.name, options),
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
  return new InstanceHandle(runtime, workflow, insert.id, result?.ref === insert.ref ? insert.ref : null);
}

async function createBatch(
  runtime: WorkflowRuntime,
  workflow: RegisteredWorkflow,
  batch: readonly CreateOptions<unknown>[],
): Promise<WorkflowInstance[]> {
  const prepared = await Promise.all(checkBatch(batch).map((options) => prepareInstance(runtime, workflow, options)));
  const results = await runtime.create(prepared.map(({ insert }) => insert));
  return prepared.flatMap(({ insert, onConflict }, index) => {
    const isNew = results[index]?.result === "created" && results[index]?.ref === insert.ref;
    return isNew || onConflict === "return"
      ? [new InstanceHandle(runtime, workflow, insert.id, isNew ? insert.ref : null)]
      : [];
  });
}

/** In order: each is a step of its own. */
async function createEach(
  batch: readonly CreateOptions<unknown>[],
  create: (options: CreateOptions<unknown>) => Promise<WorkflowInstance>,
): Promise<WorkflowInstance[]> {
  return Promise.all(batch.map((options) => create(options)));
}

function checkBatch(batch: readonly CreateOptions<unknown>[]): readonly CreateOptions<unknown>[] {
  if (Array.isArray(batch) && batch.length <= MOST_IN_BATCH) return batch;
  throw new InvalidInputError("create.invalid", `createBatch takes an array of at most ${MOST_IN_BATCH} instances.`);
}

async function getInstance(
  runtime: WorkflowRuntime,
  workflow: RegisteredWorkflow,
  id: string,
): Promise<WorkflowInstance> {
  const name = { namespace: runtime.namespace, name: workflow.name, id: checkId(id, "The id of an instance") };
  const [record] = await runtime.store.instances.statements.find([name]);
  if (record === null || record === undefined) throw notFound(workflow.name, id);
  return new InstanceHandle(runtime, workflow, id);
}

async function listInstances(
  runtime: WorkflowRuntime,
  name: string,
  options: InstanceListOptions = {},
): Promise<InstancePage> {
  const filter = parseListOptions(options);
  const { limit } = filter;
  const { statements } = runtime.store.instances;
  const records = await statements.list({ ...filter, namespace: runtime.namespace, name, limit: limit + 1 });
  const page = records.slice(0, limit);
  const last = page.at(-1);
  return {
    instances: page.map((record) => ({ id: record.id, workflowName: record.name, ...toState(record, runtime) })),
    cursor: records.length > limit && last !== undefined ? encodeCursor(last.ref) : null,
  };
}

function parseListOptions(options: InstanceListOptions): Omit<InstanceFilter, "namespace" | "name"> {
  checkOptions(options, { label: "list", fields: LIST_FIELDS });
  const { status = null, createdFrom, createdBefore, order = "newest", limit = 100, cursor } = options;
  if (status !== null && !STATUSES.includes(status)) throw invalid(`status must be one of ${STATUSES.join(", ")}`);
  if (order !== "newest" && order !== "oldest") throw invalid('order must be "newest" or "oldest"');
  checkLimit(limit);
  return {
    status,
    createdFrom: parseTime(createdFrom, "createdFrom"),
    createdBefore: parseTime(createdBefore, "createdBefore"),
    after: cursor === undefined ? null : decodeCursor(cursor),
    order,
    limit,
  };
}

function parseTime(value: Date | number | undefined, label: string): number | null {
  if (value === undefined) return null;
  const time = timeOfDate(value) ?? value;
  if (typeof time === "number" && Number.isFinite(time)) return Math.round(time);
  throw invalid(`${label} must be a Date, or milliseconds since the epoch`);
}

function invalid(problem: string): InvalidInputError {
  return new InvalidInputError("options.invalid", `${problem}.`);
}

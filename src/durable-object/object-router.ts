import { decodeCursor, encodeCursor } from "../cursor.ts";
import { PerdureError } from "../errors.ts";
import { checkOptions } from "../options.ts";
import { compareText } from "../store/text-order.ts";
import { RegisteredWorkflows } from "../workflows/define/registered-workflows.ts";
import type { EventPayloads } from "../workflows/define/workflow-event.ts";
import {
  parseWorkflowLimits,
  type WorkflowLimits,
  type WorkflowSettings,
} from "../workflows/define/workflow-settings.ts";
import type { ParamsOf, WorkflowEvents, WorkflowOutput, Workflows } from "../workflows/define/workflow-types.ts";
import type {
  BatchOptions,
  CreatedOrSent,
  CreateOptions,
  CreateOrSendOptions,
  RestartedInstance,
  RestartOptions,
} from "../workflows/instances/create/create-options.ts";
import type { WorkflowInstance } from "../workflows/instances/instance.ts";
import { addCounts } from "../workflows/instances/lists/count-instances.ts";
import type {
  CountOptions,
  InstanceCounts,
  InstanceListOptions,
  InstancePage,
  LabelledEvent,
  SentToAll,
  VersionSummary,
  WorkflowBinding,
} from "../workflows/instances/workflow-binding.ts";
import { revoked } from "../workflows/tokens/complete-token.ts";
import type { ShardPage } from "./answer-call.ts";
import { createEachOnShards, createOnShards, deleteOnShards, withId } from "./routed-batches.ts";
import { RoutedWorkflow } from "./routed-workflow.ts";
import { type ObjectNamespace, Shards } from "./shards.ts";

export interface ObjectRouterOptions<Registry extends Workflows> {
  /** The binding of a class that is made by `PerdureObject.of`. */
  readonly objects: ObjectNamespace;
  /** The workflows of that class. Objects know them by their names. */
  readonly workflows: Registry;
  /** How many objects there are, from 1 to 1000. Ids are divided among them, so it must stay as it is. Default: 16. */
  readonly shards?: number;
  /** The start of the objects' names. Default: `perdure`. */
  readonly prefix?: string;
  /** The limits of that class, such as `batchSize`. An object checks its own limits as well. */
  readonly workflowLimits?: WorkflowLimits;
}

/**
 * A workflow whose instances are in many objects. Like a workflow of an application, but a batch is created all or none in each
 * object separately, and lists and counts ask all objects.
 */
export type RoutedBinding<Params, Output, Events extends EventPayloads> = WorkflowBinding<Params, Output, Events>;

/** An instance in one of many objects. */
export type RoutedWorkflowInstance<Output = unknown, Events extends EventPayloads = EventPayloads> = WorkflowInstance<
  Output,
  Events
>;

export type RoutedBindings<Registry extends Workflows> = {
  readonly [Key in keyof Registry]: RoutedBinding<
    ParamsOf<Registry[Key]>,
    WorkflowOutput<Registry[Key]>,
    WorkflowEvents<Registry[Key]>
  >;
};

const FIELDS = ["objects", "workflows", "shards", "prefix", "workflowLimits"];

/** The workflows of many objects. */
export interface ObjectRouter<Registry extends Workflows> {
  /** Each workflow by its key. */
  readonly workflows: RoutedBindings<Registry>;
  /** Ends the wait of a token with a payload, in the object that has its instance; see `step.createToken`. */
  completeToken(token: string, payload?: unknown): Promise<void>;
}

/**
 * Spreads the instances of workflows over many Durable Objects, by their ids, so that a Worker isn't limited to what one can
 * do.
 *
 * @example
 * const { workflows } = createObjectRouter({ objects: env.SHOP, workflows: { checkout }, shards: 64 });
 * const order = await workflows.checkout.create({ id: "order-1", params: { total: 12 } });
 */
export function createObjectRouter<const Registry extends Workflows>(
  options: ObjectRouterOptions<Registry>,
): ObjectRouter<Registry> {
  checkOptions(options, { label: "createObjectRouter", fields: FIELDS });
  const { objects, workflows, shards: count = 16, prefix = "perdure" } = options;
  const limits = parseWorkflowLimits(options.workflowLimits);
  const shards = new Shards(objects, prefix, count, limits.maxInstanceId);
  const { all } = new RegisteredWorkflows("app", workflows, limits, undefined);
  const bindings = all.map(({ key, name }) => [key, createBinding(new RoutedWorkflow(shards, name, limits))]);
  return {
    workflows: Object.freeze(Object.fromEntries(bindings)) as RoutedBindings<Registry>,
    completeToken: (token, payload) => completeToken(shards, limits, token, payload),
  };
}

/** All objects have the secret of the tokens, so any of them can read which instance a token is for. */
async function completeToken(shards: Shards, limits: WorkflowSettings, token: string, payload: unknown): Promise<void> {
  const call = (shard: number, operation: string, ...parameters: unknown[]) =>
    shards.call(shard, { workflow: null, operation, id: null, parameters });
  const { name, id } = (await call(0, "readToken", token)) as { name: string; id: string };
  const shard = await new RoutedWorkflow(shards, name, limits).find(id).catch((error: unknown) => {
    throw error instanceof PerdureError && error.code === "instance.not_found" ? revoked() : error;
  });
  await call(shard, "completeToken", token, payload);
}

function createBinding(workflow: RoutedWorkflow): RoutedBinding<unknown, unknown, EventPayloads> {
  const { shards } = workflow;
  return {
    create: async (options?: CreateOptions<unknown>) => {
      const whole = withId(options);
      const shard = shards.of(whole.id);
      await workflow.call(shard, "create", whole);
      return workflow.instance(whole.id, shard);
    },
    createBatch: async (batch: readonly CreateOptions<unknown>[] | BatchOptions<unknown>) =>
      Array.isArray(batch)
        ? createOnShards(workflow, batch)
        : createEachOnShards(workflow, batch as BatchOptions<unknown>),
    restartOrCreate: async (options: RestartOptions<unknown>): Promise<RestartedInstance> => {
      const shard = shards.of(options?.id);
      const outcome = (await workflow.call(shard, "restartOrCreate", options)) as RestartedInstance["outcome"];
      return { instance: workflow.instance(options.id, shard), outcome };
    },
    createOrSend: async (options: CreateOrSendOptions<unknown, string, unknown>): Promise<CreatedOrSent> => {
      const shard = shards.of(options?.id);
      const outcome = (await workflow.call(shard, "createOrSend", options)) as CreatedOrSent["outcome"];
      return { instance: workflow.instance(options.id, shard), outcome };
    },
    sendEventToAll: async (event: LabelledEvent<string, unknown>): Promise<SentToAll> => {
      const sums = (await workflow.callAll("sendEventToAll", event)) as SentToAll[];
      return { sent: sum(sums, ({ sent }) => sent), full: sum(sums, ({ full }) => full) };
    },
    deleteBatch: (ids: readonly string[]) => deleteOnShards(workflow, ids),
    get: async (id: string) => workflow.instance(id, await workflow.find(id)),
    list: (options?: InstanceListOptions) => listAll(workflow, options),
    counts: async (options?: CountOptions) =>
      addCounts((await workflow.callAll("counts", options)) as InstanceCounts[]),
    versions: () => listAllVersions(workflow),
  } as unknown as RoutedBinding<unknown, unknown, EventPayloads>;
}

/**
 * Refs sort by time whichever object made them, so one place in that order is a cursor for all objects. An object's search can
 * end before it has found as many as were asked for: what others have found beyond that place is left to the next page.
 */
async function listAll(workflow: RoutedWorkflow, options: InstanceListOptions = {}): Promise<InstancePage> {
  const pages = (await workflow.callAll("list", options)) as ShardPage[];
  const { limit = 100, order = "newest" } = options;
  const compare = (one: string, other: string) => compareText(one, other) * (order === "newest" ? -1 : 1);
  const [reached] = pages.flatMap(({ cursor }) => (cursor === null ? [] : [decodeCursor(cursor)])).sort(compare);
  const all = pages
    .flatMap(({ instances, refs }) => instances.map((instance, index) => ({ instance, ref: refs[index] as string })))
    .filter(({ ref }) => reached === undefined || compare(ref, reached) <= 0)
    .sort((one, other) => compare(one.ref, other.ref));
  const page = all.slice(0, limit);
  const continueAfter = all.length > limit ? page.at(-1)?.ref : reached;
  return {
    instances: page.map(({ instance }) => instance),
    cursor: continueAfter === undefined ? null : encodeCursor(continueAfter),
  };
}

/** Objects may run different code while it is deployed. */
async function listAllVersions(workflow: RoutedWorkflow): Promise<VersionSummary[]> {
  const found = ((await workflow.callAll("versions")) as VersionSummary[][]).flat();
  return [...Map.groupBy(found, ({ version }) => version)]
    .sort(([one], [other]) => (other ?? 0) - (one ?? 0))
    .map(([version, parts]) => ({
      version,
      unfinished: sum(parts, (part) => part.unfinished),
      registered: parts.every(({ registered }) => registered),
    }));
}

function sum<Item>(items: readonly Item[], count: (item: Item) => number): number {
  return items.reduce((total, item) => total + count(item), 0);
}

import { encodeCursor } from "../cursor.ts";
import { InvalidInputError, PerdureError } from "../errors.ts";
import { checkOptions } from "../options.ts";
import type { CreateArguments, CreateOptions, NewInstance } from "../workflows/create-options.ts";
import { notFound } from "../workflows/not-found.ts";
import { RegisteredWorkflows } from "../workflows/registered-workflows.ts";
import type { InstanceListOptions, InstancePage } from "../workflows/workflow-binding.ts";
import type { EventPayloads } from "../workflows/workflow-event.ts";
import { parseWorkflowLimits } from "../workflows/workflow-settings.ts";
import type { ParamsOf, WorkflowEvents, WorkflowOutput, Workflows } from "../workflows/workflow-types.ts";
import type { ShardPage } from "./answer-call.ts";
import { RoutedInstance, type RoutedWorkflowInstance } from "./routed-instance.ts";
import { type ObjectNamespace, Shards } from "./shards.ts";

export interface ObjectRouterOptions<Registry extends Workflows> {
  /** The binding of a class that is made by `PerdureObject.of`. */
  readonly objects: ObjectNamespace;
  /** The workflows of that class, by the same keys. */
  readonly workflows: Registry;
  /** How many objects there are, from 1 to 1000. Ids are divided among them, so it must stay as it is. Default: 16. */
  readonly shards?: number;
  /** Begins the names of the objects. Default: `perdure`. */
  readonly prefix?: string;
}

/** A workflow whose instances are in many objects. */
export interface RoutedBinding<Params, Output, Events extends EventPayloads> {
  create(...rest: CreateArguments<Params>): Promise<RoutedWorkflowInstance<Output, Events>>;
  /** Creates at most 100 instances at once: all or none in each object. Ids that exist are skipped. */
  createBatch(batch: readonly NewInstance<Params>[]): Promise<RoutedWorkflowInstance<Output, Events>[]>;
  get(id: string): Promise<RoutedWorkflowInstance<Output, Events>>;
  /** One page of the instances of all objects, in the order of their creation. */
  list(options?: InstanceListOptions): Promise<InstancePage>;
}

export type RoutedBindings<Registry extends Workflows> = {
  readonly [Key in keyof Registry]: RoutedBinding<
    ParamsOf<Registry[Key]>,
    WorkflowOutput<Registry[Key]>,
    WorkflowEvents<Registry[Key]>
  >;
};

const MOST_IN_BATCH = 100;
const FIELDS = ["objects", "workflows", "shards", "prefix"];

/**
 * Spreads the instances of workflows over many Durable Objects, by their ids, so that a Worker isn't limited to what one can do.
 *
 * @example
 * const { workflows } = createObjectRouter({ objects: env.SHOP, workflows: { checkout }, shards: 64 });
 * const order = await workflows.checkout.create({ id: "order-1", params: { total: 12 } });
 */
export function createObjectRouter<const Registry extends Workflows>(
  options: ObjectRouterOptions<Registry>,
): { readonly workflows: RoutedBindings<Registry> } {
  checkOptions(options, { label: "createObjectRouter", fields: FIELDS });
  const { objects, workflows, shards: count = 16, prefix = "perdure" } = options;
  const shards = new Shards(objects, prefix, count);
  const { all } = new RegisteredWorkflows("app", workflows, parseWorkflowLimits(), undefined);
  const bindings = all.map(({ key, name }) => [key, createBinding(shards, key, name)]);
  return { workflows: Object.freeze(Object.fromEntries(bindings)) as RoutedBindings<Registry> };
}

function createBinding(shards: Shards, workflow: string, name: string): RoutedBinding<unknown, unknown, EventPayloads> {
  const handle = (id: string, shard: number) => new RoutedInstance(shards, { workflow, name, id, shard });
  return {
    create: async (options?: CreateOptions<unknown>) => {
      const [whole] = withIds([options ?? {}]) as [IdentifiedOptions];
      const shard = shards.of(whole.id);
      await shards.call(shard, { workflow, operation: "create", id: null, parameters: [whole] });
      return handle(whole.id, shard);
    },
    createBatch: async (batch) => {
      const byShard = Map.groupBy(withIds(checkBatch(batch)), ({ id }) => shards.of(id));
      const created = await Promise.all(
        Array.from(byShard, ([shard, some]) =>
          shards.call(shard, { workflow, operation: "createBatch", id: null, parameters: [some] }),
        ),
      );
      const isNew = new Set(created.flat() as string[]);
      const ids = [...byShard.values()].flat().map(({ id }) => id);
      const inOrder = withoutRepeats(ids).filter((id) => isNew.has(id));
      return inOrder.map((id) => handle(id, shards.of(id)));
    },
    get: async (id) => handle(id, await findShard(shards, workflow, name, id)),
    list: (options) => listAll(shards, workflow, options),
  } as RoutedBinding<unknown, unknown, EventPayloads>;
}

/** Where its id says; or where it was made by another instance, or before the number of objects was changed. */
async function findShard(shards: Shards, workflow: string, name: string, id: string): Promise<number> {
  const call = { workflow, operation: "exists", id, parameters: [] };
  const has = async (shard: number) => {
    try {
      return (await shards.call(shard, call)) === true;
    } catch (error) {
      if (error instanceof PerdureError && error.code === "instance.not_found") return false;
      throw error;
    }
  };
  const home = shards.of(id);
  if (await has(home)) return home;
  const others = shards.all.filter((shard) => shard !== home);
  const found = await Promise.all(others.map(async (shard) => ((await has(shard)) ? shard : null)));
  const known = found.find((shard) => shard !== null);
  if (known === undefined || known === null) throw notFound(name, id);
  return known;
}

/** Refs sort by time whichever object made them, so one place in that order is a cursor for all objects. */
async function listAll(shards: Shards, workflow: string, options: InstanceListOptions = {}): Promise<InstancePage> {
  const call = { workflow, operation: "list", id: null, parameters: [options] };
  const pages = (await Promise.all(shards.all.map((shard) => shards.call(shard, call)))) as ShardPage[];
  const { limit = 100, order = "newest" } = options;
  const direction = order === "newest" ? -1 : 1;
  const all = pages
    .flatMap(({ instances, refs }) => instances.map((instance, index) => ({ instance, ref: refs[index] as string })))
    .sort((one, other) => (one.ref < other.ref ? -direction : direction));
  const page = all.slice(0, limit);
  const more = all.length > limit || pages.some(({ cursor }) => cursor !== null);
  const last = page.at(-1);
  return {
    instances: page.map(({ instance }) => instance),
    cursor: more && last !== undefined ? encodeCursor(last.ref) : null,
  };
}

type IdentifiedOptions = CreateOptions<unknown> & { readonly id: string };

function withIds(batch: readonly CreateOptions<unknown>[]): IdentifiedOptions[] {
  return batch.map((options) => ({ ...options, id: options?.id ?? crypto.randomUUID() }));
}

function withoutRepeats(ids: readonly string[]): string[] {
  return [...new Set(ids)];
}

function checkBatch<Batch>(batch: Batch): Batch {
  if (Array.isArray(batch) && batch.length <= MOST_IN_BATCH) return batch;
  throw new InvalidInputError("create.invalid", `createBatch takes an array of at most ${MOST_IN_BATCH} instances.`);
}

import { parseDuration } from "../duration.ts";
import type { HookDefinitions } from "../hooks/define-hook.ts";
import type { AnyWorkflow, Workflows } from "../workflows/define/workflow-types.ts";
import type { CreatedBatch } from "../workflows/instances/create/create-options.ts";
import type { WorkflowInstance } from "../workflows/instances/instance.ts";
import type { BindingOf, TypedBindings } from "../workflows/instances/typed-bindings.ts";
import { makeIntrospectable } from "./introspection/introspect.ts";
import { forever } from "./process-life.ts";
import type { TestProcess } from "./test-process.ts";
import { TestSubscription } from "./test-subscription.ts";
import type { TestWorld } from "./test-world.ts";

type Binding = BindingOf<AnyWorkflow>;
type World = TestWorld<HookDefinitions, Workflows>;
type Process = TestProcess<HookDefinitions, Workflows>;
type ResultOptions = NonNullable<Parameters<WorkflowInstance["result"]>[0]>;

/**
 * The workflows of a test. They and their instances outlive a crash: each call goes to the process that the caller belongs to.
 */
export function createTestBindings<Hooks extends HookDefinitions, Registry extends Workflows>(
  world: TestWorld<Hooks, Registry>,
): TypedBindings<Registry> {
  const keys = Object.keys(world.here().application.workflows);
  const bindings = keys.map((key) => [key, createBinding(world as unknown as World, key)]);
  return Object.freeze(Object.fromEntries(bindings)) as TypedBindings<Registry>;
}

function createBinding(world: World, key: string): Binding {
  const ask = <Result>(call: (binding: BindingOf<AnyWorkflow>) => Promise<Result>) =>
    world.ask((process) => call(process.application.workflows[key] as BindingOf<AnyWorkflow>));
  const toInstance = ({ id, workflowName }: WorkflowInstance) => createInstance(world, key, id, workflowName);
  const toCreated = (instance: WorkflowInstance) => {
    world.rehearsals.created(key, instance.id);
    return toInstance(instance);
  };
  const binding = {
    create: async (options) => toCreated(await ask((binding) => binding.create(options))),
    createBatch: async (batch: never) => {
      const made = (await ask((binding) => binding.createBatch(batch))) as WorkflowInstance[] | CreatedBatch;
      return Array.isArray(made) ? made.map(toCreated) : { ...made, created: made.created.map(toCreated) };
    },
    restartOrCreate: async (options) => {
      const { instance, outcome } = await ask((binding) => binding.restartOrCreate(options));
      return { instance: outcome === "created" ? toCreated(instance) : toInstance(instance), outcome };
    },
    createOrSend: async (options) => {
      const { instance, outcome } = await ask((binding) => binding.createOrSend(options));
      return { instance: outcome === "created" ? toCreated(instance) : toInstance(instance), outcome };
    },
    sendEventToAll: (event) => ask((binding) => binding.sendEventToAll(event)),
    deleteBatch: (ids) => ask((binding) => binding.deleteBatch(ids)),
    get: async (id) => toInstance(await ask((binding) => binding.get(id))),
    list: (options) => ask((binding) => binding.list(options)),
    counts: (options) => ask((binding) => binding.counts(options)),
    versions: () => ask((binding) => binding.versions()),
  } as Binding;
  makeIntrospectable(binding, world, key);
  return binding;
}

function createInstance(world: World, key: string, id: string, workflowName: string): WorkflowInstance {
  const ask = <Result>(call: (instance: WorkflowInstance) => Promise<Result>) =>
    world.ask((process) => call(process.instance(key, id)));
  return {
    id,
    workflowName,
    status: () => ask((instance) => instance.status()),
    result: (options) => waitForResult(world, (process) => process.instance(key, id), options),
    sendEvent: (event) => ask((instance) => instance.sendEvent(event)),
    pause: () => ask((instance) => instance.pause()),
    resume: () => ask((instance) => instance.resume()),
    terminate: (options) => ask((instance) => instance.terminate(options)),
    restart: (options) => ask((instance) => instance.restart(options)),
    retryFailedStep: () => ask((instance) => instance.retryFailedStep()),
    delete: () => ask((instance) => instance.delete()),
    explain: () => ask((instance) => instance.explain()),
    unreceivedEvents: () => ask((instance) => instance.unreceivedEvents()),
    history: (options) => ask((instance) => instance.history(options)),
    subscribe: (options) =>
      TestSubscription.open(() => {
        const process = world.here();
        return { instance: process.instance(key, id), death: process.life.death };
      }, options) as never, // of the types that were asked for
  };
}

const DIED = Symbol("died");

/** A test may wait for a result while processes come and go; code of a process waits in its own. */
async function waitForResult(
  world: World,
  find: (process: Process) => WorkflowInstance,
  options: ResultOptions = {},
): Promise<unknown> {
  const { timeout } = options;
  const endAt = timeout === undefined ? null : world.clock.now() + parseDuration(timeout, "timeout");
  for (let first = true; ; first = false) {
    const process = world.here();
    if (process.life.dead) return forever();
    const remaining =
      endAt === null || first ? options : { ...options, timeout: Math.max(endAt - world.clock.now(), 0) };
    const result = await Promise.race([find(process).result(remaining), process.life.death.then(() => DIED)]);
    if (result !== DIED) return result;
  }
}

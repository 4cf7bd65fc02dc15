import { ConflictError, instanceNotFound } from "../../errors.ts";
import { checkInstanceId } from "../../names.ts";
import type { Awaitable, ForeignInstances } from "../../store/foreign-transaction.ts";
import type { EventInsert, InstanceInsertResult } from "../../store/instances/instance-records.ts";
import type { RegisteredWorkflow } from "../define/registered-workflows.ts";
import type { EventPayloads } from "../define/workflow-event.ts";
import type { AnyWorkflow, ParamsOf, WorkflowEvents, Workflows } from "../define/workflow-types.ts";
import { warnOfReplays } from "../replay-warning.ts";
import type { WorkflowRuntime } from "../workflow-runtime.ts";
import { checkBatch } from "./create/batches.ts";
import { alreadyExists, type PreparedInstance, prepareAtOnce, splitCreateOrSend } from "./create/create.ts";
import type { CreateArguments, CreateOptions, CreateOrSendOptions, NewInstance } from "./create/create-options.ts";
import type { EventToSend, SentEvent } from "./instance.ts";
import { prepareEvent, splitAddressed } from "./prepare-event.ts";

/** An instance that is there when the transaction has committed. `app.workflows.KEY.get(id)` gives it then. */
export interface CreatedWithin {
  readonly id: string;
}

/** Of a synchronous transaction the result itself, otherwise a promise of it. */
export type InMode<Mode extends "sync" | "async", Result> = Mode extends "sync" ? Result : Promise<Result>;

/** An event for the instance of this id, which may be created in the same transaction. */
export type AddressedEvent<Type extends string, Payload> = EventToSend<Type, Payload> & { readonly to: string };

/** A workflow in a transaction of the application's: everything commits and rolls back with the rest of it. */
export interface ForeignBinding<Mode extends "sync" | "async", Params, Events extends EventPayloads> {
  /** Creates an instance, which starts after the commit. */
  create(...rest: CreateArguments<Params>): InMode<Mode, CreatedWithin>;
  /** Creates instances. Ids that exist are skipped: gives those that are new. */
  createBatch(batch: readonly NewInstance<Params>[]): InMode<Mode, CreatedWithin[]>;
  /**
   * Sends an event to an instance. On PostgreSQL it is delivered after the commit: an instance that is missing or finished by
   * then is told to the log.
   *
   * @example
   * await app.within(fromPg(client)).workflows.checkout.sendEvent({ to: "order-1", type: "paid", payload: { by: "card" } });
   */
  sendEvent<Type extends keyof Events & string>(event: AddressedEvent<Type, Events[Type]>): InMode<Mode, void>;
  /** Creates the instance if there is none of its id, and sends it the event. */
  createOrSend<Type extends keyof Events & string>(
    options: CreateOrSendOptions<Params, Type, Events[Type]>,
  ): InMode<Mode, CreatedWithin>;
}

export type ForeignBindings<Mode extends "sync" | "async", Registry extends Workflows> = {
  readonly [Key in keyof Registry]: ForeignBinding<Mode, ParamsOf<Registry[Key]>, WorkflowEvents<Registry[Key]>>;
};

/** Runs what follows when the value is there: at once, or when a promise has resolved. */
export type Chain = <Value, Result>(
  value: Awaitable<Value>,
  next: (value: Value) => Awaitable<Result>,
) => Awaitable<Result>;

/** The workflows by their keys, for calls that `instances` writes. */
export function createForeignBindings(
  runtime: WorkflowRuntime,
  instances: ForeignInstances,
  chain: Chain,
): ForeignBindings<"async", Record<string, AnyWorkflow>> {
  const bindings = runtime.workflows.all.map((workflow) => [
    workflow.key,
    createBinding(runtime, workflow, instances, chain),
  ]);
  return Object.freeze(Object.fromEntries(bindings));
}

function createBinding(
  runtime: WorkflowRuntime,
  workflow: RegisteredWorkflow,
  instances: ForeignInstances,
  chain: Chain,
) {
  const insert = (prepared: readonly PreparedInstance[]) =>
    chain(instances.insert(prepared.map((one) => one.insert)), (results) => {
      for (const one of prepared) runtime.timeouts.note(one.insert.traits?.timeout ?? null);
      return results;
    });
  const isNew = (results: readonly InstanceInsertResult[], index: number) => results[index]?.result === "created";
  const prepare = (to: string, event: SentEvent<string, unknown>) => {
    const id = checkInstanceId(to, runtime.workflows.settings);
    return prepareEvent(runtime, workflow, { namespace: runtime.namespace, name: workflow.name, id }, event);
  };
  const send = (event: EventInsert) =>
    chain(instances.sendEvent(event), ({ result }) => refuseLost(workflow.name, event.id, result));
  const prepareNew = (options?: CreateOptions<unknown>) => {
    warnOfReplays(runtime.store, { createdWorkflow: workflow.name }, options?.id);
    return prepareAtOnce(runtime, workflow, options);
  };
  const create = (options?: CreateOptions<unknown>) =>
    chain(prepareNew(options), (prepared) =>
      chain(insert([prepared]), (results) => {
        const { id } = prepared.insert;
        if (!isNew(results, 0) && prepared.onConflict === "error") throw alreadyExists(workflow.name, id);
        return { id };
      }),
    );
  return {
    create,
    createBatch: (batch: readonly CreateOptions<unknown>[]) => {
      const all = checkBatch(batch, runtime.workflows.settings.maxBatchSize);
      const prepared = all.map(prepareNew);
      return chain(inTurn(prepared, chain), (ready) =>
        chain(insert(ready), (results) =>
          ready.flatMap(({ insert: { id }, onConflict }, index) =>
            isNew(results, index) || onConflict === "return" ? [{ id }] : [],
          ),
        ),
      );
    },
    sendEvent: (addressed: AddressedEvent<string, unknown>) => chain(prepare(...splitAddressed(addressed)), send),
    createOrSend: (options: CreateOrSendOptions<unknown, string, unknown>) => {
      const { create: instance, event } = splitCreateOrSend(options);
      return chain(prepare(instance.id, event), (prepared) =>
        chain(create({ ...instance, onConflict: "return" }), (created) => chain(send(prepared), () => created)),
      );
    },
  };
}

function inTurn<Value>(values: readonly Awaitable<Value>[], chain: Chain): Awaitable<Value[]> {
  return values.reduce<Awaitable<Value[]>>(
    (before, value) => chain(before, (ready) => chain(value, (one) => [...ready, one])),
    [],
  );
}

/** Throws if an event could not be delivered. */
export function refuseLost(workflow: string, id: string, result: string): void {
  const instance = `The instance "${id}" of "${workflow}"`;
  if (result === "missing") throw instanceNotFound(workflow, id);
  if (result === "finished")
    throw new ConflictError("instance.finished", `${instance} has ended: no event can be sent to it.`);
  if (result === "full")
    throw new ConflictError("event.too_many", `${instance} takes no more events until it has received some.`);
}

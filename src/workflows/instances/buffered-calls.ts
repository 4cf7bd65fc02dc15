import { checkInstanceId } from "../../names.ts";
import type { EngineTransaction } from "../../store/engine.ts";
import type { Awaitable } from "../../store/foreign-transaction.ts";
import type { EventInsert } from "../../store/instances/instance-records.ts";
import type { RegisteredWorkflow } from "../define/registered-workflows.ts";
import type { EventPayloads } from "../define/workflow-event.ts";
import type { ParamsOf, WorkflowEvents, Workflows } from "../define/workflow-types.ts";
import { warnOfReplays } from "../replay-warning.ts";
import type { WorkflowRuntime } from "../workflow-runtime.ts";
import { alreadyExists, type PreparedInstance, prepareAtOnce, splitCreateOrSend } from "./create/create.ts";
import type { CreateArguments, CreateOptions, CreateOrSendOptions } from "./create/create-options.ts";
import { type AddressedEvent, type CreatedWithin, refuseLost } from "./foreign-bindings.ts";
import type { SentEvent } from "./instance.ts";
import { prepareEvent, splitAddressed } from "./prepare-event.ts";

/** A workflow in a unit of work. Its calls are written at the end, and a call that can't be written ends the unit of work. */
export interface UnitBinding<Params, Events extends EventPayloads> {
  /**
   * Creates an instance, which starts after the commit. An id that exists rejects the unit of work with
   * `instance.already_exists`, unless `onConflict` is "return".
   */
  create(...rest: CreateArguments<Params>): CreatedWithin;
  /** Sends an event to an instance, which may be created in the same unit of work. */
  sendEvent<Type extends keyof Events & string>(event: AddressedEvent<Type, Events[Type]>): void;
  /** Creates the instance if there is none of its id, and sends it the event. */
  createOrSend<Type extends keyof Events & string>(
    options: CreateOrSendOptions<Params, Type, Events[Type]>,
  ): CreatedWithin;
}

export type UnitBindings<Registry extends Workflows> = {
  readonly [Key in keyof Registry]: UnitBinding<ParamsOf<Registry[Key]>, WorkflowEvents<Registry[Key]>>;
};

/** The instances and events of one unit of work, until they are written at its end. */
export class BufferedCalls {
  /** The workflows by their keys. */
  readonly bindings: Readonly<Record<string, UnitBinding<unknown, EventPayloads>>>;
  readonly #runtime: WorkflowRuntime;
  readonly #refuseFinished: () => void;
  readonly #instances: Awaitable<PreparedInstance>[] = [];
  readonly #events: Awaitable<EventInsert>[] = [];

  constructor(runtime: WorkflowRuntime, refuseFinished: () => void) {
    this.#runtime = runtime;
    this.#refuseFinished = refuseFinished;
    this.bindings = Object.freeze(
      Object.fromEntries(runtime.workflows.all.map((workflow) => [workflow.key, this.#bind(workflow)])),
    );
  }

  /** Rejects if an id is taken, or if an event can't be delivered: then nothing of the unit of work is kept. */
  async write(transaction: EngineTransaction): Promise<void> {
    const prepared = await Promise.all(this.#instances);
    const results = await transaction.insertInstances(prepared.map(({ insert }) => insert));
    for (const [index, { insert, onConflict }] of prepared.entries()) {
      const exists = results[index]?.result === "existing";
      if (exists && onConflict === "error") throw alreadyExists(insert.name, insert.id);
    }
    const events = await Promise.all(this.#events);
    const sent = await transaction.sendEvents(events);
    for (const [index, { name, id }] of events.entries()) refuseLost(name, id, sent[index]?.result ?? "missing");
  }

  /** Tells workers, here and in other processes. */
  committed(): void {
    if (this.#instances.length === 0 && this.#events.length === 0) return;
    const { store, namespace } = this.#runtime;
    store.work.post({ namespace, delayMs: 0 });
    store.work.announce(namespace);
  }

  #bind(workflow: RegisteredWorkflow) {
    const { settings } = this.#runtime.workflows;
    const create = (options?: CreateOptions<unknown>): CreatedWithin => {
      this.#refuseFinished();
      warnOfReplays(this.#runtime.store, { createdWorkflow: workflow.name }, options?.id);
      const ref = this.#runtime.store.createId();
      this.#instances.push(later(prepareAtOnce(this.#runtime, workflow, options, { ref })));
      return { id: options?.id ?? ref };
    };
    const prepare = (to: string, event: SentEvent<string, unknown>) => {
      const target = { namespace: this.#runtime.namespace, name: workflow.name, id: checkInstanceId(to, settings) };
      return later(prepareEvent(this.#runtime, workflow, target, event));
    };
    return {
      create,
      sendEvent: (addressed: AddressedEvent<string, unknown>): void => {
        this.#refuseFinished();
        this.#events.push(prepare(...splitAddressed(addressed)));
      },
      createOrSend: (options: CreateOrSendOptions<unknown, string, unknown>): CreatedWithin => {
        this.#refuseFinished();
        const { create: instance, event } = splitCreateOrSend(options);
        const prepared = prepare(instance.id, event);
        const created = create({ ...instance, onConflict: "return" });
        this.#events.push(prepared);
        return created;
      },
    };
  }
}

/** What an asynchronous schema refuses is reported at the end. */
function later<Value>(value: Awaitable<Value>): Awaitable<Value> {
  if (value instanceof Promise) value.catch(() => {});
  return value;
}

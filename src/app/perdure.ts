import {
  createDurableHooksDispatcher,
  type DispatcherOptions,
  type DurableHooksDispatcher,
} from "../dispatchers/node.ts";
import { createDurableHooksProcessor } from "../fragment/create-processor.ts";
import { defineFragment, type RunUnitOfWork } from "../fragment/define-fragment.ts";
import { type AnyFragment, Fragment } from "../fragment/fragment.ts";
import { buildParts } from "../fragment/instantiate.ts";
import { migrate } from "../fragment/migrate.ts";
import type { TriggerArguments } from "../fragment/unit-of-work.ts";
import type { RunWithin } from "../fragment/within.ts";
import type { HookDefinitions, HookInput } from "../hooks/define-hook.ts";
import type { DurableHooks } from "../hooks/durable-hooks.ts";
import { type DurableHooksOptions, HOOK_SETTINGS, parseHookSettings } from "../hooks/hook-settings.ts";
import { RegisteredHooks } from "../hooks/registered-hooks.ts";
import { prepareTrigger, type TriggerOptions } from "../hooks/trigger.ts";
import { type TriggeredHook, writeTriggers } from "../hooks/write-triggers.ts";
import { consoleLogger, type Logger } from "../logger.ts";
import { checkOptions } from "../options.ts";
import type { Codec } from "../store/codec/codec.ts";
import type { DatabaseAdapter, Store } from "../store/store.ts";
import type { SubjectsDefinition } from "../subjects/define-subjects.ts";
import { type AllInstances, createAllInstances } from "../workflows/all-instances.ts";
import { createBindings } from "../workflows/create-bindings.ts";
import { type EnvOption, RegisteredWorkflows } from "../workflows/registered-workflows.ts";
import type { TypedBindings } from "../workflows/workflow-binding.ts";
import { WorkflowRuntime } from "../workflows/workflow-runtime.ts";
import { WorkflowSchedules } from "../workflows/workflow-schedules.ts";
import { parseWorkflowLimits, type WorkflowLimits } from "../workflows/workflow-settings.ts";
import type { Workflows } from "../workflows/workflow-types.ts";
import { ApplicationSubjects, checkDefinition } from "./application-subjects.ts";
import { checkDatabase, openDatabase } from "./open-database.ts";

export interface PerdureOptions<Hooks extends HookDefinitions, Registry extends Workflows = Record<never, never>>
  extends DurableHooksOptions {
  /** A path (SQLite), a `postgres://` URL, or `sqlite(...)` or `postgres(...)`. */
  readonly database: string | DatabaseAdapter;
  readonly hooks?: Hooks;
  /** By key: made by `defineWorkflow`, a class, or `{ name, workflow }`. */
  readonly workflows?: Registry;
  /** What workflows get as `env`: a value, or a function of the workflows. */
  readonly env?: EnvOption;
  readonly workflowLimits?: WorkflowLimits;
  /** By dispatcher id, made by `defineSubjects`. */
  readonly subjects?: Readonly<Record<string, SubjectsDefinition>>;
  /** Keeps the hooks and workflows of several applications in one database apart. Default: `app`. */
  readonly namespace?: string;
  /** `false` for processes that only trigger and create. Else how this process runs hooks and workflows. Default: it runs them. */
  readonly worker?: boolean | Omit<DispatcherOptions, "processor" | "logger">;
  readonly logger?: Logger;
  /** Encrypts what is stored, if `database` is a path or a URL: `aesGcm(...)`, or one of your own. Default: none. */
  readonly codec?: Codec;
}

/** A hook that can be triggered by itself, in a transaction of its own. */
export interface HookHandle<Input> {
  /** Resolves when it is stored. Many calls at once share their commits. */
  trigger(...rest: TriggerArguments<Input>): Promise<TriggeredHook>;
}

export type HookHandles<Hooks extends HookDefinitions> = {
  readonly [Name in keyof Hooks]: HookHandle<HookInput<Hooks[Name]>>;
};

const WORKFLOW_FIELDS = ["workflows", "env", "workflowLimits"];
const FIELDS = [
  "database",
  "hooks",
  "subjects",
  "namespace",
  "worker",
  "logger",
  "codec",
  ...WORKFLOW_FIELDS,
  ...HOOK_SETTINGS,
];
const WORKER_FIELDS = ["pollIntervalMs", "concurrency", "leaseMs", "onError"];

/**
 * Starts Perdure: opens the database, migrates it, and runs what is due.
 *
 * @example
 * await using app = await perdure({ database: "app.db", hooks: { sendMail } });
 * await app.hooks.sendMail.trigger({ to: "ada@example.org" });
 */
export async function perdure<
  const Hooks extends HookDefinitions = Record<never, never>,
  const Registry extends Workflows = Record<never, never>,
>(options: PerdureOptions<Hooks, Registry>): Promise<Application<Hooks, Registry>> {
  checkOptions(options, { label: "perdure", fields: FIELDS });
  const { database, hooks = {} as Hooks, namespace = "app", worker = true, ...others } = options;
  const { logger = consoleLogger, workflows = {} as Registry, env, workflowLimits, ...rest } = others;
  const { subjects = {}, codec, ...durableHooks } = rest;
  // Mistakes are found before a database is opened, so that they leave no new file behind.
  if (typeof worker !== "boolean") checkOptions(worker, { label: "worker", fields: WORKER_FIELDS });
  const definition = defineFragment<undefined>(namespace)
    .provideHooks(() => hooks)
    .build();
  new RegisteredHooks(namespace, hooks, parseHookSettings(durableHooks));
  const registered = new RegisteredWorkflows(namespace, workflows, parseWorkflowLimits(workflowLimits), env);
  for (const [dispatcherId, definition] of Object.entries(subjects)) checkDefinition(dispatcherId, definition);
  checkDatabase(database, codec);
  const owned = typeof database === "string";
  const adapter = owned ? await openDatabase(database, { logger, ...(codec && { codec }) }) : database;
  try {
    const parts = buildParts(definition, undefined, { databaseAdapter: adapter, durableHooks }, registered.endingHooks);
    const runtime = new WorkflowRuntime(parts.store, registered);
    const fragment = new Fragment<Hooks, unknown>({ ...parts, workflows: runtime });
    await migrate(fragment);
    const dispatcher = startWorker(fragment, worker, logger);
    const app = new Application<Hooks, Registry>(fragment, dispatcher, owned, worker !== false);
    for (const [dispatcherId, definition] of Object.entries(subjects)) app.subjects.register(dispatcherId, definition);
    return app;
  } catch (error) {
    if (owned) await adapter.store.close();
    throw error;
  }
}

/** A running application. Disposing of it stops it. */
export class Application<Hooks extends HookDefinitions, Registry extends Workflows = Record<never, never>>
  implements AsyncDisposable
{
  /** Each hook by its name. */
  readonly hooks: HookHandles<Hooks>;
  /** Each workflow by its key. */
  readonly workflows: TypedBindings<Registry>;
  /** Lists, pauses and resumes the schedules of workflows, and runs them now. */
  readonly schedules: WorkflowSchedules;
  /** The instances of all workflows. */
  readonly instances: AllInstances;
  /** Defines subjects, and gives their dispatchers. */
  readonly subjects: ApplicationSubjects;
  /** Runs a function in a transaction that can trigger hooks. */
  readonly unitOfWork: RunUnitOfWork<Hooks>;
  /**
   * Triggers hooks in a transaction that the application began, with whatever library.
   *
   * @example
   * await app.within(fromPg(client)).triggerHook("sendMail", mail);
   */
  readonly within: RunWithin<Hooks>;
  /** Lists, redrives, discards and cancels hooks. */
  readonly durableHooks: DurableHooks;
  /** @internal */
  readonly parts: AnyFragment["parts"];
  readonly #store: Store;
  readonly #dispatcher: DurableHooksDispatcher | null;
  readonly #ownsDatabase: boolean;
  #stopped: Promise<void> | undefined;

  constructor(
    fragment: Fragment<Hooks, unknown>,
    dispatcher: DurableHooksDispatcher | null,
    ownsDatabase: boolean,
    runsSubjects = false,
  ) {
    const { store, hooks } = fragment.parts;
    this.parts = fragment.parts;
    const workflows = fragment.parts.workflows ?? noWorkflows(store, fragment.namespace);
    this.workflows = createBindings(workflows) as unknown as TypedBindings<Registry>;
    this.schedules = new WorkflowSchedules(workflows);
    this.instances = createAllInstances(workflows);
    this.unitOfWork = fragment.unitOfWork;
    this.within = fragment.within;
    this.durableHooks = fragment.durableHooks;
    this.#store = store;
    this.#dispatcher = dispatcher;
    this.#ownsDatabase = ownsDatabase;
    this.subjects = new ApplicationSubjects(store, fragment.namespace, runsSubjects);
    const handles = hooks.names.map((name) => [
      name,
      {
        trigger: async (payload: unknown, options?: TriggerOptions) => {
          const trigger = await prepareTrigger(hooks, name, payload, options, store.createId);
          const [triggered] = await writeTriggers(store, [trigger]);
          return triggered;
        },
      },
    ]);
    this.hooks = Object.freeze(Object.fromEntries(handles)) as HookHandles<Hooks>;
  }

  /** Looks for work now. */
  wake(): void {
    this.#dispatcher?.wake();
    this.subjects.wake();
  }

  /** Waits for what runs, up to a deadline (default: 30 seconds), hands the rest back, and closes what it opened. */
  stop(options: { readonly deadlineMs?: number } = {}): Promise<void> {
    this.#stopped ??= this.#stop(options).catch((error: unknown) => {
      this.#stopped = undefined; // another call may do better
      throw error;
    });
    return this.#stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #stop(options: { readonly deadlineMs?: number }): Promise<void> {
    await Promise.all([this.#dispatcher?.stopPolling(options), this.subjects.stop(options.deadlineMs)]);
    if (this.#ownsDatabase) await this.#store.close();
  }
}

function noWorkflows(store: Store, namespace: string): WorkflowRuntime {
  return new WorkflowRuntime(store, new RegisteredWorkflows(namespace, {}, parseWorkflowLimits(), undefined));
}

function startWorker(
  fragment: Fragment<never, unknown>,
  worker: NonNullable<PerdureOptions<HookDefinitions>["worker"]>,
  logger: Logger,
): DurableHooksDispatcher | null {
  const processor = createDurableHooksProcessor(fragment);
  if (processor === null || worker === false) return null;
  const dispatcher = createDurableHooksDispatcher({ ...(worker === true ? {} : worker), processor, logger });
  dispatcher.startPolling();
  return dispatcher;
}

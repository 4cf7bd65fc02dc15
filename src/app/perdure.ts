import {
  createDurableHooksDispatcher,
  type DispatcherOptions,
  type DurableHooksDispatcher,
  parseDispatching,
} from "../dispatchers/node-dispatcher.ts";
import { isGone } from "../dispatchers/process-owner.ts";
import { createDurableHooksProcessor, type DurableHooksProcessor } from "../fragment/create-processor.ts";
import { defineFragment } from "../fragment/define-fragment.ts";
import { Fragment } from "../fragment/fragment.ts";
import { buildParts } from "../fragment/instantiate.ts";
import { migrate } from "../fragment/migrate.ts";
import type { HookDefinitions } from "../hooks/define-hook.ts";
import { type DurableHooksOptions, HOOK_SETTINGS, parseHookSettings } from "../hooks/hook-settings.ts";
import { RegisteredHooks } from "../hooks/registered-hooks.ts";
import { checkLogger, type Logger } from "../logger.ts";
import { checkOnAudit, type OnChange } from "../monitoring/audit.ts";
import { checkOptions } from "../options.ts";
import type { Codec } from "../store/codec/codec.ts";
import type { DatabaseAdapter } from "../store/store.ts";
import type { SubjectsDefinition } from "../subjects/define-subjects.ts";
import { type EnvOption, RegisteredWorkflows } from "../workflows/define/registered-workflows.ts";
import { parseWorkflowLimits, type WorkflowLimits } from "../workflows/define/workflow-settings.ts";
import type { Workflows } from "../workflows/define/workflow-types.ts";
import { withWorkflows } from "../workflows/hook-supplements.ts";
import { parseTokenOptions, type TokenOptions } from "../workflows/tokens/token-options.ts";
import { Application } from "./application.ts";
import { checkDefinition } from "./application-subjects.ts";
import { checkDatabase, lendLogger, openDatabase } from "./open-database.ts";

export { Application, type HookHandles } from "./application.ts";

export interface PerdureOptions<Hooks extends HookDefinitions, Registry extends Workflows = Record<never, never>>
  extends DurableHooksOptions {
  /** A path (SQLite), a `postgres://` URL, or `sqlite(...)` or `postgres(...)`. */
  readonly database: string | DatabaseAdapter;
  readonly hooks?: Hooks;
  /** By key: made by `defineWorkflow`, a class, or `{ name, workflow }`. */
  readonly workflows?: Registry;
  /** The `env` of workflows: a value, or a function that makes it from the workflows. */
  readonly env?: EnvOption;
  readonly workflowLimits?: WorkflowLimits;
  /** For `step.createToken`. */
  readonly tokens?: TokenOptions;
  /** By dispatcher id, made by `defineSubjects`. */
  readonly subjects?: Readonly<Record<string, SubjectsDefinition>>;
  /** Separates the hooks and workflows of several applications in one database. Default: `app`. */
  readonly namespace?: string;
  /**
   * `false` for processes that only trigger and create; otherwise options of the worker that runs hooks and workflows. Default:
   * a worker runs.
   */
  readonly worker?: boolean | Omit<DispatcherOptions, "processor" | "logger">;
  /** `console`, `pino()`, or your own. Default: that of `database`, or the console. */
  readonly logger?: Logger;
  /**
   * Receives each change that operators ask for: in this process by the application's objects, and over HTTP. Name them with
   * `actingAs`. Default: none.
   */
  readonly onAudit?: OnChange;
  /** Encrypts stored values, if `database` is a path or a URL: `aesGcm(...)`, or your own codec. Default: none. */
  readonly codec?: Codec;
  /**
   * Whether `status()`, history, dead letters and the log say where errors were thrown, if `database` is a path or a URL.
   * Default: true.
   */
  readonly stackTraces?: boolean;
}

const WORKFLOW_FIELDS = ["workflows", "env", "workflowLimits", "tokens"];
const FIELDS = [
  "database",
  "hooks",
  "subjects",
  "namespace",
  "worker",
  "logger",
  "codec",
  "stackTraces",
  "onAudit",
  ...WORKFLOW_FIELDS,
  ...HOOK_SETTINGS,
];
const WORKER_FIELDS = ["pollIntervalMs", "concurrency", "leaseMs", "onError"];

/**
 * Starts Perdure: opens the database, migrates it, and runs due work.
 *
 * @example
 * await using app = await perdure({ database: "app.db", hooks: { sendMail } });
 * await app.hooks.sendMail.trigger({ to: "ada@example.org" });
 */
export async function perdure<
  const Hooks extends HookDefinitions = Record<never, never>,
  const Registry extends Workflows = Record<never, never>,
>(options: PerdureOptions<Hooks, Registry>): Promise<Application<Hooks, Registry>> {
  const { worker = true, subjects = {} } = options ?? {};
  const { logger, open, build } = prepare(options);
  const { onAudit } = options;
  const { adapter, owned } = await open();
  try {
    const fragment = build(adapter);
    await migrate(fragment);
    const processor = createDurableHooksProcessor(fragment);
    await processor?.prepare();
    const dispatcher = processor === null ? null : createWorker(processor, worker, logger);
    if (worker !== false) dispatcher?.startPolling();
    const app = new Application<Hooks, Registry>(fragment, dispatcher, owned, {
      runsSubjects: worker !== false,
      onAudit,
      logger,
    });
    for (const [dispatcherId, definition] of Object.entries(subjects)) app.subjects.register(dispatcherId, definition);
    return app;
  } catch (error) {
    if (owned) await adapter.store.close();
    throw error;
  }
}

/**
 * Opens an application for operators' commands: without a worker, and without migrating. The tables may be missing or old.
 *
 * @internal
 */
export async function inspect<const Hooks extends HookDefinitions, const Registry extends Workflows>(
  options: PerdureOptions<Hooks, Registry>,
): Promise<Application<Hooks, Registry>> {
  const { subjects = {} } = options ?? {};
  const { logger, open, build } = prepare(options);
  const { onAudit } = options;
  const { adapter, owned } = await open();
  adapter.store.workers.isGone = isGone;
  const app = new Application<Hooks, Registry>(build(adapter), null, owned, { onAudit, logger });
  for (const [dispatcherId, definition] of Object.entries(subjects)) app.subjects.register(dispatcherId, definition);
  return app;
}

/** Checks all options before a database is opened, so that a mistake leaves no new file. */
function prepare<const Hooks extends HookDefinitions, const Registry extends Workflows>(
  options: PerdureOptions<Hooks, Registry>,
) {
  checkOptions(options, { label: "perdure", fields: FIELDS });
  const { database, hooks = {} as Hooks, namespace = "app", worker = true, ...others } = options;
  const { logger: given, workflows = {} as Registry, env, workflowLimits, tokens, ...rest } = others;
  const { subjects = {}, codec, stackTraces, onAudit, ...durableHooks } = rest;
  checkOnAudit(onAudit);
  const logger = checkLogger(given);
  const opening = { ...(codec !== undefined && { codec }), ...(stackTraces !== undefined && { stackTraces }) };
  if (typeof worker !== "boolean") {
    checkOptions(worker, { label: "worker", fields: WORKER_FIELDS });
    parseDispatching(worker);
  }
  const definition = defineFragment<undefined>(namespace)
    .provideHooks(() => hooks)
    .build();
  new RegisteredHooks(namespace, hooks, parseHookSettings(durableHooks));
  const limits = parseWorkflowLimits(workflowLimits);
  const registered = new RegisteredWorkflows(namespace, workflows, limits, env, parseTokenOptions(tokens));
  for (const [dispatcherId, definition] of Object.entries(subjects)) checkDefinition(dispatcherId, definition);
  checkDatabase(database, opening);
  return {
    logger,
    open: async () => {
      if (typeof database !== "string") {
        if (given !== undefined) lendLogger(database, logger);
        return { adapter: database, owned: false };
      }
      return { adapter: await openDatabase(database, { logger, ...opening }), owned: true };
    },
    build: (databaseAdapter: DatabaseAdapter) => {
      const parts = withWorkflows(registered, (supplements) =>
        buildParts(definition, undefined, { databaseAdapter, durableHooks }, supplements),
      );
      return new Fragment<Hooks, unknown>(parts);
    },
  };
}

/** A dispatcher that isn't started can still be drained. */
function createWorker(
  processor: DurableHooksProcessor,
  worker: NonNullable<PerdureOptions<HookDefinitions>["worker"]>,
  logger: Logger,
): DurableHooksDispatcher {
  return createDurableHooksDispatcher({ ...(typeof worker === "boolean" ? {} : worker), processor, logger });
}

import { Application } from "../app/application.ts";
import { checkDefinition } from "../app/application-subjects.ts";
import type { ConcurrencyOption } from "../dispatchers/dispatcher-options.ts";
import { defineFragment } from "../fragment/define-fragment.ts";
import { Fragment } from "../fragment/fragment.ts";
import { buildParts } from "../fragment/instantiate.ts";
import type { HookDefinitions } from "../hooks/define-hook.ts";
import { type DurableHooksOptions, HOOK_SETTINGS } from "../hooks/hook-settings.ts";
import type { HttpHandlerOptions } from "../http/handler-options.ts";
import type { Logger } from "../logger.ts";
import { checkOnAudit, type OnChange } from "../monitoring/audit.ts";
import { checkOptions } from "../options.ts";
import type { Codec } from "../store/codec/codec.ts";
import { durableObject, type ObjectState } from "../store/sqlite/durable-object.ts";
import type { SubjectsDefinition } from "../subjects/define-subjects.ts";
import { type EnvOption, RegisteredWorkflows } from "../workflows/define/registered-workflows.ts";
import { parseWorkflowLimits, type WorkflowLimits } from "../workflows/define/workflow-settings.ts";
import type { Workflows } from "../workflows/define/workflow-types.ts";
import { withWorkflows } from "../workflows/hook-supplements.ts";
import { parseTokenOptions, type TokenOptions } from "../workflows/tokens/token-options.ts";

/** The application of an object: as for `perdure`, except for the database, which is the object's own. */
export interface ObjectDefinition<
  Hooks extends HookDefinitions = Record<never, never>,
  Registry extends Workflows = Record<never, never>,
> extends DurableHooksOptions {
  readonly hooks?: Hooks;
  /** By key: made by `defineWorkflow`, a class, or `{ name, workflow }`. */
  readonly workflows?: Registry;
  /** The `env` of workflows: a value, or a function of the workflows. Default: the object's own. */
  readonly env?: EnvOption;
  readonly workflowLimits?: WorkflowLimits;
  /** For `step.createToken`. */
  readonly tokens?: TokenOptions;
  /** By dispatcher id, made by `defineSubjects`. */
  readonly subjects?: Readonly<Record<string, SubjectsDefinition>>;
  /** Serves the application over HTTP by the object's `fetch`; see `createHttpHandler`. Default: it answers nothing. */
  readonly http?: HttpHandlerOptions;
  /** How many hooks, and how many workflows, run at a time: each kind has slots of its own. Default: 100. */
  readonly concurrency?: ConcurrencyOption;
  readonly logger?: Logger;
  /** Receives each change that operators ask for in the object, also by a router; see `perdure`. Default: none. */
  readonly onAudit?: OnChange;
  /** Encrypts what is stored. Default: none. */
  readonly codec?: Codec;
  /** Whether `status()`, history, dead letters and the log say where errors were thrown. Default: true. */
  readonly stackTraces?: boolean;
}

const OWN_FIELDS = [
  "hooks",
  "workflows",
  "env",
  "workflowLimits",
  "tokens",
  "subjects",
  "http",
  "concurrency",
  "logger",
  "onAudit",
  "codec",
  "stackTraces",
];
const NAMESPACE = "app";
/** A row of a Durable Object has 2 MB, and may hold two users' values. */
const MOST_VALUE_BYTES = 900_000;

export interface ObjectApplication<Hooks extends HookDefinitions, Registry extends Workflows> {
  readonly fragment: Fragment<Hooks, unknown>;
  readonly app: Application<Hooks, Registry>;
}

/** The application of one object. It runs nothing and reads nothing until it is started. */
export function buildObjectApplication<Hooks extends HookDefinitions, Registry extends Workflows>(
  definition: ObjectDefinition<Hooks, Registry>,
  state: ObjectState,
  objectEnv: unknown,
): ObjectApplication<Hooks, Registry> {
  checkOptions(definition, { label: "PerdureObject.of", fields: [...OWN_FIELDS, ...HOOK_SETTINGS] });
  const { hooks = {} as Hooks, workflows = {} as Registry, env = objectEnv, workflowLimits, ...others } = definition;
  const { tokens, ...rest } = others;
  const { subjects = {}, http: _http, concurrency: _concurrency, logger, onAudit, ...stored } = rest;
  const { codec, stackTraces, ...durableHooks } = stored;
  checkOnAudit(onAudit);
  for (const [dispatcherId, one] of Object.entries(subjects)) checkDefinition(dispatcherId, one);
  const limits = parseWorkflowLimits({ valueBytes: MOST_VALUE_BYTES, ...workflowLimits });
  const registered = new RegisteredWorkflows(NAMESPACE, workflows, limits, env, parseTokenOptions(tokens));
  const databaseAdapter = durableObject(state, {
    ...(logger && { logger }),
    ...(codec && { codec }),
    ...(stackTraces !== undefined && { stackTraces }),
  });
  const fragmentDefinition = defineFragment<undefined>(NAMESPACE)
    .provideHooks(() => hooks)
    .build();
  const parts = withWorkflows(registered, (supplements) =>
    buildParts(fragmentDefinition, undefined, { databaseAdapter, durableHooks }, supplements),
  );
  const fragment = new Fragment<Hooks, unknown>(parts);
  const settings = { runsSubjects: true, onAudit, ...(logger && { logger }) };
  return { fragment, app: new Application<Hooks, Registry>(fragment, null, false, settings) };
}

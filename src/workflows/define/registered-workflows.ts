import { InvalidInputError, NotFoundError } from "../../errors.ts";
import type { AnyHookDefinition } from "../../hooks/define-hook.ts";
import { checkWorkflowName, isWorkflowName } from "../../names.ts";
import { type FlowControl, NO_LIMITS, parseFlowControl } from "../../queue/flow-control.ts";
import { NO_VERSION, UNDECIDED_VERSION, versionName } from "../../store/instances/instance-records.ts";
import type { LineLimits } from "../../store/lines/line-records.ts";
import type { WorkflowBindings } from "../instances/workflow-binding.ts";
import { parseSchedules, type WorkflowSchedule } from "../schedules/schedule-option.ts";
import { TokenKeys } from "../tokens/token-keys.ts";
import type { TokenSettings } from "../tokens/token-options.ts";
import { isWorkflowDefinition } from "./define-workflow.ts";
import { parseRetention, type Retention } from "./retention.ts";
import { parseTimeout } from "./run-timeout.ts";
import { parseSensitive } from "./sensitivity.ts";
import { type OnDivergence, parseOnDivergence, parseStrict } from "./strictness.ts";
import { type Ending, type EndingHooks, endingHookName, parseTerminalHooks } from "./terminal-hooks.ts";
import { parseVersion } from "./version.ts";
import type { WorkflowSettings } from "./workflow-settings.ts";
import type {
  AnyWorkflow,
  AnyWorkflowDefinition,
  WorkflowEntrypointClass,
  Workflows,
  WorkflowVersions,
} from "./workflow-types.ts";

/**
 * A workflow that this process can run. Where it has versions, it is the newest of them, which also has what concerns all:
 * schedules, limits, hooks and retention.
 */
export interface RegisteredWorkflow {
  /** The key that the application registered it under. */
  readonly key: string;
  /** The name that its instances are stored under. */
  readonly name: string;
  /** 0 without. */
  readonly version: number;
  /** The newest first: itself, and those that only instances which were created with them use. */
  readonly versions: readonly WorkflowVersion[];
  readonly definition: AnyWorkflowDefinition | null;
  readonly entrypoint: WorkflowEntrypointClass | null;
  readonly schedules: readonly WorkflowSchedule[];
  /** Its limits; null without. */
  readonly flow: FlowControl | null;
  readonly endingHooks: EndingHooks;
  readonly retention: Retention;
  /** How long a run may take, in milliseconds; null is forever. */
  readonly timeout: number | null;
  readonly onDivergence: OnDivergence;
  /** Whether an instance fails if its function ends without some of its steps. */
  readonly strict: boolean;
  /** Whether people don't see its params. */
  readonly sensitive: boolean;
  /** The registered object, by which other workflows refer to it. */
  readonly source: AnyWorkflow;
}

/** One version of a workflow. */
export type WorkflowVersion = Omit<RegisteredWorkflow, "versions">;

/** The `env` of an application: a value, or a function that makes it from the application's workflows. */
export type EnvOption = unknown | ((workflows: WorkflowBindings) => unknown);

export function evaluateEnv(option: EnvOption, workflows: WorkflowBindings): unknown {
  return typeof option === "function" ? option(workflows) : option;
}

/** The workflows of one namespace that this process has. */
export class RegisteredWorkflows {
  readonly namespace: string;
  readonly settings: WorkflowSettings;
  readonly env: EnvOption;
  /** Null without a secret. */
  readonly tokens: { readonly keys: TokenKeys; readonly url: string | null } | null;
  readonly names: readonly string[];
  /** The versions that instances can be claimed with, by `versionName`. */
  readonly versionNames: ReadonlySet<string>;
  readonly all: readonly RegisteredWorkflow[];
  readonly #byName: ReadonlyMap<string, RegisteredWorkflow>;

  constructor(
    namespace: string,
    workflows: Workflows,
    settings: WorkflowSettings,
    env: EnvOption,
    tokens: TokenSettings | null = null,
  ) {
    this.namespace = namespace;
    this.tokens = tokens && { keys: new TokenKeys(namespace, tokens.secrets), url: tokens.url };
    this.settings = settings;
    this.env = env;
    if (Object.prototype.toString.call(workflows) !== "[object Object]") {
      throw invalid("The workflows must be an object: { key: defineWorkflow(…) }");
    }
    this.all = Object.entries(workflows).map(([key, workflow]) => registerVersions(key, workflow));
    for (const { name } of this.all) checkWorkflowName(name, settings.maxWorkflowName);
    this.#byName = new Map(this.all.map((workflow) => [workflow.name, workflow]));
    this.names = [...this.#byName.keys()];
    if (this.names.length < this.all.length) {
      const twice = this.all.find(({ name }, index) => this.all.findIndex((one) => one.name === name) !== index);
      throw invalid(
        `Two workflows have the name "${twice?.name}". Register its versions under one key, as { key: [newest, …, oldest] }`,
      );
    }
    for (const workflow of this.all) this.#refuseAmbiguous(workflow);
    this.versionNames = new Set(this.all.flatMap(claimableVersions));
  }

  /** The ending hooks of all workflows, by name. */
  get endingHooks(): ReadonlyMap<string, AnyHookDefinition> {
    const hooks = this.all.flatMap(({ name, endingHooks }) =>
      Object.entries(endingHooks).map(([ending, hook]) => [endingHookName(name, ending as Ending), hook] as const),
    );
    return new Map(hooks);
  }

  /** Finds the code of an instance. */
  findVersion({ name, version }: { readonly name: string; readonly version: number }): WorkflowVersion | undefined {
    return this.#byName.get(name)?.versions.find((one) => one.version === version);
  }

  /** Finds a workflow by its stored name, as schedules and requests refer to it. */
  find(name: string): RegisteredWorkflow | undefined {
    return this.#byName.get(name);
  }

  /** The workflow of stored instances, whether or not this process has its code: for operators. */
  stored(name: string): RegisteredWorkflow {
    return this.#byName.get(name) ?? (isWorkflowName(name) ? createUnregistered(name) : this.get(name));
  }

  /** The limits of each workflow. */
  limitsOf(name: string): LineLimits {
    return this.#byName.get(name)?.flow?.limits ?? NO_LIMITS;
  }

  /** The versions of a workflow, the newest first. */
  versionsOf(name: string): readonly number[] {
    return this.#byName.get(name)?.versions.map(({ version }) => version) ?? [];
  }

  /** Finds a workflow by its name, its key or the registered object, as user code refers to it. */
  get(workflow: unknown): RegisteredWorkflow {
    const found = typeof workflow === "string" ? this.findText(workflow) : this.#findObject(workflow);
    if (found !== undefined) return found;
    const known = this.names.length === 0 ? "it has none" : `it has ${this.names.join(", ")}`;
    const problem =
      typeof workflow === "string"
        ? `The application has no workflow "${workflow.slice(0, 100)}"`
        : `The argument is neither the key or name of a workflow nor registered with the application`;
    throw new NotFoundError("workflow.not_found", `${problem}; ${known}.`);
  }

  /** By its name or its key. */
  findText(text: string): RegisteredWorkflow | undefined {
    return this.#byName.get(text) ?? this.all.find(({ key }) => key === text);
  }

  /** The registered object comes before a registration of the same object under another name. */
  #findObject(given: unknown): RegisteredWorkflow | undefined {
    if (given === null || given === undefined) return undefined;
    const registered = this.all.filter(({ versions }) => versions.some(({ source }) => source === given));
    const [found, other] =
      registered.length > 0
        ? registered
        : this.all.filter(({ versions }) =>
            versions.some((one) => one.definition === given || one.entrypoint === given),
          );
    if (other === undefined) return found;
    const names = `"${found?.name}" and "${other.name}"`;
    throw invalid(`The workflow is registered under several names, ${names}: pass one of the names`);
  }

  /** Refuses a name that is another workflow's key, because `get` could mean either. */
  #refuseAmbiguous({ key, name }: RegisteredWorkflow): void {
    const other = this.all.find((one) => one.key === name);
    if (other === undefined || other.key === key) return;
    throw invalid(
      `The workflow "${name}" is registered under the key "${key}", but "${name}" is the key of the workflow "${other.name}". ` +
        "No name may be the key of another workflow: use the names as keys",
    );
  }
}

/** Whether this process has the code of a workflow. */
export function isRegistered({ versions }: RegisteredWorkflow): boolean {
  return versions.length > 0;
}

/**
 * A workflow whose code this process lacks, but whose instances operators can manage: it does everything that needs no code,
 * but neither creates instances nor runs them.
 */
function createUnregistered(name: string): RegisteredWorkflow {
  return { key: name, name, ...withoutOptions(), definition: null, entrypoint: null, versions: [], source: NO_CODE };
}

/** Any version is right for an instance that has none yet; it can be claimed by the name alone where that is registered. */
function claimableVersions({ name, versions }: RegisteredWorkflow): string[] {
  const names = versions.map(({ version }) => versionName(name, version));
  return names.includes(name) ? names : [...names, versionName(name, UNDECIDED_VERSION)];
}

function registerVersions(key: string, source: AnyWorkflow | WorkflowVersions): RegisteredWorkflow {
  const given = (Array.isArray(source) ? source : [source]) as readonly AnyWorkflow[];
  const versions = given.map((one) => register(key, one));
  const [newest] = versions;
  if (newest === undefined) throw invalid(`The workflow "${key}" has no version`);
  for (const [index, { name, version }] of versions.entries()) {
    if (name !== newest.name) {
      throw invalid(
        `The versions of "${key}" have different names, "${newest.name}" and "${name}": a workflow has one`,
      );
    }
    const newer = versions[index - 1];
    if (newer === undefined || newer.version > version) continue;
    const listed = versions.map((one) => one.version || "none").join(", ");
    throw invalid(`The versions of "${key}" must be different, the newest first; got ${listed}`);
  }
  return { ...newest, versions };
}

function register(key: string, source: AnyWorkflow): WorkflowVersion {
  if (isWorkflowDefinition(source)) {
    const { name, version, schedules, flow, endingHooks, retention, timeout, onDivergence, strict, sensitive } = source;
    const others = { version, schedules, flow, endingHooks, retention, timeout, onDivergence, strict, sensitive };
    return { key, name, definition: source, entrypoint: null, ...others, source };
  }
  if (isEntrypoint(source)) {
    return { key, name: checkWorkflowName(key), definition: null, entrypoint: source, ...withoutOptions(), source };
  }
  const options = (source ?? {}) as unknown as Readonly<Record<string, unknown>>;
  const { name, workflow, schedules, concurrency, rateLimit } = options;
  const flow = parseFlowControl(concurrency, rateLimit);
  const endingHooks = parseTerminalHooks(options);
  if (isWorkflowDefinition(workflow)) {
    const others = {
      version: parseVersion(options.version, workflow.version),
      schedules: schedules === undefined ? workflow.schedules : parseSchedules(schedules, workflow.input),
      flow: flow ?? workflow.flow,
      endingHooks: { ...workflow.endingHooks, ...endingHooks },
      retention: parseRetention(options.retention, "workflow.invalid", workflow.retention),
      timeout: parseTimeout(options.timeout, "workflow.invalid", workflow.timeout),
      onDivergence: parseOnDivergence(options.onDivergence, workflow.onDivergence),
      strict: parseStrict(options.strict, workflow.strict),
      sensitive: parseSensitive(options.sensitive, workflow.sensitive),
    };
    const ownName = checkWorkflowName(name ?? workflow.name);
    return { key, name: ownName, definition: workflow, entrypoint: null, ...others, source };
  }
  if (isEntrypoint(workflow)) {
    const retention = parseRetention(options.retention, "workflow.invalid");
    const timeout = parseTimeout(options.timeout, "workflow.invalid");
    const onDivergence = parseOnDivergence(options.onDivergence);
    const strict = parseStrict(options.strict);
    const version = parseVersion(options.version);
    const sensitive = parseSensitive(options.sensitive);
    const behaviour = { version, retention, timeout, onDivergence, strict, sensitive };
    const others = { schedules: parseSchedules(schedules, null), flow, endingHooks, ...behaviour };
    return { key, name: checkWorkflowName(name), definition: null, entrypoint: workflow, ...others, source };
  }
  throw invalid(
    `The workflow "${key}" must be made by defineWorkflow, or be a class that extends WorkflowEntrypoint, or { name, workflow }, or an array of versions of it`,
  );
}

/** What a workflow has that is registered as a class alone. */
function withoutOptions() {
  return {
    version: NO_VERSION,
    schedules: [],
    flow: null,
    endingHooks: {},
    retention: parseRetention(undefined, "workflow.invalid"),
    timeout: null,
    onDivergence: "warn",
    strict: false,
    sensitive: false,
  } as const;
}

/** No application registers it, so nothing that users pass is taken for it. */
const NO_CODE = Object.freeze({}) as AnyWorkflow;

/** Checked by shape: a class of another copy of this package, or of Cloudflare's, is accepted. */
function isEntrypoint(value: unknown): value is WorkflowEntrypointClass {
  return typeof value === "function" && typeof value.prototype?.run === "function";
}

function invalid(problem: string): InvalidInputError {
  return new InvalidInputError("workflow.invalid", `${problem}.`);
}

import { InvalidInputError, NotFoundError } from "../../errors.ts";
import type { AnyHookDefinition } from "../../hooks/define-hook.ts";
import { checkWorkflowName } from "../../names.ts";
import type { LineLimits } from "../../store/lines/line-records.ts";
import type { WorkflowBindings } from "../instances/workflow-binding.ts";
import { parseSchedules, type WorkflowSchedule } from "../schedules/schedule-option.ts";
import { TokenKeys } from "../tokens/token-keys.ts";
import type { TokenSettings } from "../tokens/token-options.ts";
import { isWorkflowDefinition } from "./define-workflow.ts";
import { type FlowControl, NO_LIMITS, parseFlowControl } from "./flow-control.ts";
import { parseRetention, type Retention } from "./retention.ts";
import { type OnDivergence, parseOnDivergence, parseStrict } from "./strictness.ts";
import { type Ending, type EndingHooks, endingHookName, parseTerminalHooks } from "./terminal-hooks.ts";
import type { WorkflowSettings } from "./workflow-settings.ts";
import type { AnyWorkflow, AnyWorkflowDefinition, WorkflowEntrypointClass, Workflows } from "./workflow-types.ts";

/** A workflow that this process can run. */
export interface RegisteredWorkflow {
  /** The key that the application registered it under. */
  readonly key: string;
  /** The name that its instances are stored under. */
  readonly name: string;
  readonly definition: AnyWorkflowDefinition | null;
  readonly entrypoint: WorkflowEntrypointClass | null;
  readonly schedules: readonly WorkflowSchedule[];
  /** Its limits; null without. */
  readonly flow: FlowControl | null;
  readonly endingHooks: EndingHooks;
  readonly retention: Retention;
  readonly onDivergence: OnDivergence;
  /** Whether an instance fails if its function ends without some of its steps. */
  readonly strict: boolean;
  /** The registered object, by which other workflows refer to it. */
  readonly source: AnyWorkflow;
}

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
    this.all = Object.entries(workflows).map(([key, workflow]) => register(key, workflow));
    for (const { name } of this.all) checkWorkflowName(name, settings.maxWorkflowName);
    this.#byName = new Map(this.all.map((workflow) => [workflow.name, workflow]));
    this.names = [...this.#byName.keys()];
    if (this.names.length < this.all.length) {
      const twice = this.all.find(({ name }, index) => this.all.findIndex((one) => one.name === name) !== index);
      throw invalid(`Two workflows have the name "${twice?.name}"`);
    }
    for (const workflow of this.all) this.#refuseAmbiguous(workflow);
  }

  /** The ending hooks of all workflows, by name. */
  get endingHooks(): ReadonlyMap<string, AnyHookDefinition> {
    const hooks = this.all.flatMap(({ name, endingHooks }) =>
      Object.entries(endingHooks).map(([ending, hook]) => [endingHookName(name, ending as Ending), hook] as const),
    );
    return new Map(hooks);
  }

  /** Finds a workflow by its stored name, as instances, schedules and requests refer to it. */
  find(name: string): RegisteredWorkflow | undefined {
    return this.#byName.get(name);
  }

  /** The limits of each workflow. */
  limitsOf(name: string): LineLimits {
    return this.#byName.get(name)?.flow?.limits ?? NO_LIMITS;
  }

  /** Finds a workflow by its name, its key or the registered object, as user code refers to it. */
  get(workflow: unknown): RegisteredWorkflow {
    const found = typeof workflow === "string" ? this.#findText(workflow) : this.#findObject(workflow);
    if (found !== undefined) return found;
    const known = this.names.length === 0 ? "it has none" : `it has ${this.names.join(", ")}`;
    const problem =
      typeof workflow === "string"
        ? `The application has no workflow "${workflow.slice(0, 100)}"`
        : `The argument is neither the key or name of a workflow nor registered with the application`;
    throw new NotFoundError("workflow.not_found", `${problem}; ${known}.`);
  }

  #findText(text: string): RegisteredWorkflow | undefined {
    return this.#byName.get(text) ?? this.all.find(({ key }) => key === text);
  }

  /** The registered object comes before a registration of the same object under another name. */
  #findObject(given: unknown): RegisteredWorkflow | undefined {
    if (given === null || given === undefined) return undefined;
    const registered = this.all.filter(({ source }) => source === given);
    const [found, other] =
      registered.length > 0
        ? registered
        : this.all.filter(({ definition, entrypoint }) => definition === given || entrypoint === given);
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

function register(key: string, source: AnyWorkflow): RegisteredWorkflow {
  if (isWorkflowDefinition(source)) {
    const { name, schedules, flow, endingHooks, retention, onDivergence, strict } = source;
    const others = { schedules, flow, endingHooks, retention, onDivergence, strict };
    return { key, name, definition: source, entrypoint: null, ...others, source };
  }
  if (isEntrypoint(source)) {
    const retention = parseRetention(undefined, "workflow.invalid");
    const nothing = {
      schedules: [],
      flow: null,
      endingHooks: {},
      retention,
      onDivergence: "warn",
      strict: false,
    } as const;
    return { key, name: checkWorkflowName(key), definition: null, entrypoint: source, ...nothing, source };
  }
  const options = (source ?? {}) as unknown as Readonly<Record<string, unknown>>;
  const { name, workflow, schedules, concurrency, rateLimit } = options;
  const flow = parseFlowControl(concurrency, rateLimit);
  const endingHooks = parseTerminalHooks(options);
  if (isWorkflowDefinition(workflow)) {
    const others = {
      schedules: schedules === undefined ? workflow.schedules : parseSchedules(schedules, workflow.input),
      flow: flow ?? workflow.flow,
      endingHooks: { ...workflow.endingHooks, ...endingHooks },
      retention: parseRetention(options.retention, "workflow.invalid", workflow.retention),
      onDivergence: parseOnDivergence(options.onDivergence, workflow.onDivergence),
      strict: parseStrict(options.strict, workflow.strict),
    };
    const ownName = checkWorkflowName(name ?? workflow.name);
    return { key, name: ownName, definition: workflow, entrypoint: null, ...others, source };
  }
  if (isEntrypoint(workflow)) {
    const retention = parseRetention(options.retention, "workflow.invalid");
    const onDivergence = parseOnDivergence(options.onDivergence);
    const strict = parseStrict(options.strict);
    const others = { schedules: parseSchedules(schedules, null), flow, endingHooks, retention, onDivergence, strict };
    return { key, name: checkWorkflowName(name), definition: null, entrypoint: workflow, ...others, source };
  }
  throw invalid(
    `The workflow "${key}" must be made by defineWorkflow, or be a class that extends WorkflowEntrypoint, or { name, workflow }`,
  );
}

/** Checked by shape: a class of another copy of this package, or of Cloudflare's, is accepted. */
function isEntrypoint(value: unknown): value is WorkflowEntrypointClass {
  return typeof value === "function" && typeof value.prototype?.run === "function";
}

function invalid(problem: string): InvalidInputError {
  return new InvalidInputError("workflow.invalid", `${problem}.`);
}

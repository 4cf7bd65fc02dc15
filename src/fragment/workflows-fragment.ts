import { InvalidInputError } from "../errors.ts";
import { checkOptions } from "../options.ts";
import { type EnvOption, RegisteredWorkflows } from "../workflows/define/registered-workflows.ts";
import { parseWorkflowLimits, type WorkflowLimits } from "../workflows/define/workflow-settings.ts";
import type { Workflows } from "../workflows/define/workflow-types.ts";
import { withWorkflows } from "../workflows/hook-supplements.ts";
import { type AllInstances, createAllInstances } from "../workflows/instances/all-instances.ts";
import { createBindings } from "../workflows/instances/create/create-bindings.ts";
import type { TypedBindings } from "../workflows/instances/typed-bindings.ts";
import { WorkflowSchedules } from "../workflows/schedules/schedule-operations.ts";
import { completeToken } from "../workflows/tokens/complete-token.ts";
import { parseTokenOptions, type TokenOptions } from "../workflows/tokens/token-options.ts";
import type { WorkflowRuntime } from "../workflows/workflow-runtime.ts";
import { defineFragment } from "./define-fragment.ts";
import { Fragment, type FragmentParts } from "./fragment.ts";
import { buildParts, type FragmentOptions } from "./instantiate.ts";

export interface WorkflowsConfig<Registry extends Workflows> {
  /** By key: made by `defineWorkflow`, a class, or `{ name, workflow }`. */
  readonly workflows: Registry;
  /** The `env` of workflows: a value, or a function that makes it from the workflows. */
  readonly env?: EnvOption;
  readonly workflowLimits?: WorkflowLimits;
  /** For `step.createToken`. */
  readonly tokens?: TokenOptions;
  /** Separates the instances of several applications in one database. Default: `workflows`. */
  readonly namespace?: string;
}

type NoHooks = Record<never, never>;

/** A fragment with workflows. */
export class WorkflowsFragment<Registry extends Workflows> extends Fragment<NoHooks, NoHooks> {
  /** Each workflow by its key. */
  readonly workflows: TypedBindings<Registry>;
  /** Lists, pauses and resumes schedules, and runs them now. */
  readonly schedules: WorkflowSchedules;

  /** The instances of all workflows. */
  readonly instances: AllInstances<Registry>;

  /** Ends the wait of a token that `step.createToken` gave, once. */
  readonly completeToken: (token: string, payload?: unknown) => Promise<void>;

  /** @internal */
  constructor(parts: FragmentParts<NoHooks>, runtime: WorkflowRuntime) {
    super({ ...parts, workflows: runtime });
    this.workflows = createBindings(runtime) as unknown as TypedBindings<Registry>;
    this.schedules = new WorkflowSchedules(runtime);
    this.instances = createAllInstances(runtime);
    this.completeToken = (token, payload) => completeToken(runtime, token, payload);
  }
}

/** Instantiates workflows with a configuration and a database. */
export class WorkflowsInstantiation<Registry extends Workflows> {
  readonly #config: WorkflowsConfig<Registry> | undefined;
  readonly #options: FragmentOptions | undefined;

  /** @internal */
  constructor(config: WorkflowsConfig<Registry> | undefined, options: FragmentOptions | undefined) {
    this.#config = config;
    this.#options = options;
  }

  withConfig<const NewRegistry extends Workflows>(
    config: WorkflowsConfig<NewRegistry>,
  ): WorkflowsInstantiation<NewRegistry> {
    checkOptions(config, {
      label: "The workflows",
      fields: ["workflows", "env", "workflowLimits", "namespace", "tokens"],
    });
    return new WorkflowsInstantiation(config, this.#options);
  }

  withOptions(options: FragmentOptions): WorkflowsInstantiation<Registry> {
    checkOptions(options, { label: "A fragment", fields: ["databaseAdapter", "durableHooks"] });
    return new WorkflowsInstantiation(this.#config, options);
  }

  build(): WorkflowsFragment<Registry> {
    if (this.#config === undefined) {
      throw new InvalidInputError(
        "options.invalid",
        "The workflows fragment needs { workflows }: call withConfig before build.",
      );
    }
    const { workflows, env, workflowLimits, tokens, namespace = "workflows" } = this.#config;
    const definition = defineFragment<undefined>(namespace).build();
    const settings = parseWorkflowLimits(workflowLimits);
    const registered = new RegisteredWorkflows(namespace, workflows, settings, env, parseTokenOptions(tokens));
    const parts = withWorkflows(registered, (supplements) =>
      buildParts(definition, undefined, this.#options, supplements),
    );
    return new WorkflowsFragment(parts, parts.workflows);
  }
}

/** The workflows of an application, to be passed to `instantiate`. */
export interface WorkflowsFragmentDefinition {
  readonly instantiate: () => WorkflowsInstantiation<Record<never, never>>;
}

/**
 * Workflows as a fragment, for larger systems.
 *
 * @example
 * const fragment = instantiate(workflowsFragment)
 *   .withConfig({ workflows: { checkout: { name: "checkout", workflow: Checkout } }, env })
 *   .withOptions({ databaseAdapter: sqlite("app.db") })
 *   .build();
 */
export const workflowsFragment: WorkflowsFragmentDefinition = {
  instantiate: () => new WorkflowsInstantiation(undefined, undefined),
};

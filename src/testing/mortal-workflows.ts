import type { HookDefinitions } from "../hooks/define-hook.ts";
import { RegisteredWorkflows, type WorkflowVersion } from "../workflows/define/registered-workflows.ts";
import type { WorkflowStep } from "../workflows/define/step.ts";
import type { AnyWorkflowDefinition, WorkflowEntrypointClass } from "../workflows/define/workflow-types.ts";
import type { ProcessLife } from "./process-life.ts";

type Run = (event: never, step: never, context: never) => unknown;
type Begun = { readonly instanceId: string };
/** A transaction's takes the transaction first. */
type Body = (...given: never[]) => unknown;

/** Calls code so that it knows which process it belongs to. */
type Enter = <Result>(code: () => Result) => Result;

/** Changes what the steps of an instance do. */
export type Rehearse = (key: string, id: string, step: WorkflowStep) => WorkflowStep;

/** Workflows whose code stops where it stands when its process dies: results of steps don't reach it any more. */
export class MortalWorkflows extends RegisteredWorkflows {
  readonly #life: ProcessLife;
  readonly #enter: Enter;
  readonly #rehearse: Rehearse;
  readonly #hooks: HookDefinitions;
  readonly #mortal = new Map<WorkflowVersion, WorkflowVersion>();

  constructor(
    workflows: ConstructorParameters<typeof RegisteredWorkflows>,
    life: ProcessLife,
    enter: Enter,
    rehearse: Rehearse,
    hooks: HookDefinitions,
  ) {
    super(...workflows);
    this.#life = life;
    this.#enter = enter;
    this.#rehearse = rehearse;
    this.#hooks = hooks;
  }

  override findVersion(instance: { readonly name: string; readonly version: number }): WorkflowVersion | undefined {
    const found = super.findVersion(instance);
    return found && this.#toMortal(found);
  }

  #toMortal(version: WorkflowVersion): WorkflowVersion {
    const known = this.#mortal.get(version);
    if (known !== undefined) return known;
    const { key, definition, entrypoint } = version;
    const mortal = {
      ...version,
      definition: definition === null ? null : this.#watchDefinition(key, definition),
      entrypoint: entrypoint === null ? null : this.#watchEntrypoint(key, entrypoint),
    };
    this.#mortal.set(version, mortal);
    return mortal;
  }

  #watchDefinition(key: string, definition: AnyWorkflowDefinition): AnyWorkflowDefinition {
    const run = definition.run as Run;
    return {
      ...definition,
      run: (event, step, context) =>
        this.#enter(() => run(event, this.#watchSteps(key, event, step) as never, context)),
    };
  }

  #watchEntrypoint(key: string, entrypoint: WorkflowEntrypointClass): WorkflowEntrypointClass {
    const enter = this.#enter;
    const watchSteps = (event: Begun, step: WorkflowStep) => this.#watchSteps(key, event, step);
    return class extends entrypoint {
      override run(event: never, step: never): Promise<unknown> {
        return enter(() => super.run(event, watchSteps(event, step) as never));
      }
    };
  }

  #watchSteps(key: string, { instanceId }: Begun, step: WorkflowStep): WorkflowStep {
    return this.#rehearse(key, instanceId, this.#mortalSteps(step));
  }

  #mortalSteps(step: WorkflowStep): WorkflowStep {
    const watch = (body: unknown) => (typeof body === "function" ? this.#watchBody(body as Body) : body);
    const withBody = (method: "do" | "transaction") => {
      const call = (step[method] as (...all: unknown[]) => Promise<unknown>).bind(step);
      return (name: string, ...[first, second, third]: unknown[]) =>
        typeof first === "function"
          ? call(name, watch(first), this.#watchRollback(second))
          : call(name, first, watch(second), this.#watchRollback(third));
    };
    return {
      do: withBody("do"),
      transaction: withBody("transaction"),
      trigger: (hook: never, payload: never, options: never) => step.trigger(this.#nameOf(hook), payload, options),
      sendEvent: (target, event) => step.sendEvent(target, event),
      sleep: (name, duration, options) => step.sleep(name, duration, options),
      sleepUntil: (name, time, options) => step.sleepUntil(name, time, options),
      waitForEvent: (name: string, options: never) => step.waitForEvent(name, options),
      createToken: (name, options) => step.createToken(name, options),
      result: (child, options) => step.result(child, options),
      create: (workflow, ...options) => step.create(workflow, ...options),
    } as WorkflowStep;
  }

  /** The process has definitions of its own, which are known by the same names. */
  #nameOf(hook: unknown): never {
    const named = Object.entries(this.#hooks).find(([, definition]) => definition === hook);
    return (named?.[0] ?? hook) as never;
  }

  #watchRollback(options: unknown): never {
    const rollback: unknown = Reflect.get(Object(options), "rollback");
    if (typeof rollback !== "function") return options as never;
    return { ...(options as object), rollback: this.#watchBody(rollback as Body) } as never;
  }

  #watchBody(body: Body): Body {
    return (...given) => this.#life.reply((async () => this.#enter(() => body(...given)))());
  }
}

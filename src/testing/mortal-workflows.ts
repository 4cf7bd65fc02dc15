import { type RegisteredWorkflow, RegisteredWorkflows } from "../workflows/registered-workflows.ts";
import type { WorkflowStep } from "../workflows/step.ts";
import type { AnyWorkflowDefinition, WorkflowEntrypointClass } from "../workflows/workflow-types.ts";
import type { ProcessLife } from "./process-life.ts";

type Run = (event: never, step: never, context: never) => unknown;
type Body = (ctx: never) => unknown;

/** Calls code so that it knows which process it belongs to. */
type Enter = <Result>(code: () => Result) => Result;

/** Workflows whose code stops where it stands when its process dies: what a step gives then doesn't reach it any more. */
export class MortalWorkflows extends RegisteredWorkflows {
  readonly #life: ProcessLife;
  readonly #enter: Enter;
  readonly #mortal = new Map<string, RegisteredWorkflow>();

  constructor(workflows: ConstructorParameters<typeof RegisteredWorkflows>, life: ProcessLife, enter: Enter) {
    super(...workflows);
    this.#life = life;
    this.#enter = enter;
  }

  override get(workflow: unknown): RegisteredWorkflow {
    const { key, definition, entrypoint, ...rest } = super.get(workflow);
    const known = this.#mortal.get(key);
    if (known !== undefined) return known;
    const mortal = {
      ...rest,
      key,
      definition: definition === null ? null : this.#watchDefinition(definition),
      entrypoint: entrypoint === null ? null : this.#watchEntrypoint(entrypoint),
    };
    this.#mortal.set(key, mortal);
    return mortal;
  }

  #watchDefinition(definition: AnyWorkflowDefinition): AnyWorkflowDefinition {
    const run = definition.run as Run;
    return {
      ...definition,
      run: (event, step, context) => this.#enter(() => run(event, this.#watchSteps(step) as never, context)),
    };
  }

  #watchEntrypoint(entrypoint: WorkflowEntrypointClass): WorkflowEntrypointClass {
    const enter = this.#enter;
    const watchSteps = (step: WorkflowStep) => this.#watchSteps(step);
    return class extends entrypoint {
      override run(event: never, step: never): Promise<unknown> {
        return enter(() => super.run(event, watchSteps(step) as never));
      }
    };
  }

  #watchSteps(step: WorkflowStep): WorkflowStep {
    const watch = (body: unknown) => (typeof body === "function" ? this.#watchBody(body as Body) : body) as never;
    return {
      do: (name: string, ...[first, second]: unknown[]) =>
        typeof first === "function" ? step.do(name, watch(first)) : step.do(name, first as never, watch(second)),
      sleep: (name, duration) => step.sleep(name, duration),
      sleepUntil: (name, time) => step.sleepUntil(name, time),
      waitForEvent: (name: string, options: never) => step.waitForEvent(name, options),
      create: (workflow, options) => step.create(workflow, options),
    } as WorkflowStep;
  }

  #watchBody(body: Body): Body {
    return (ctx) => this.#life.reply((async () => this.#enter(() => body(ctx)))());
  }
}

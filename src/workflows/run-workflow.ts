import { applySchema } from "../schema.ts";
import { decodeValue } from "../values/index.ts";
import type { WorkflowContext } from "./define/define-workflow.ts";
import { constructEntrypoint, type ExecutionContext } from "./define/entrypoint.ts";
import { evaluateEnv, type RegisteredWorkflow } from "./define/registered-workflows.ts";
import { fromTrait, type WorkflowEvent } from "./define/workflow-event.ts";
import type { WorkflowEntrypointClass } from "./define/workflow-types.ts";
import type { Execution } from "./execution/execution.ts";
import { Steps } from "./execution/steps.ts";
import { createBindings } from "./instances/create-bindings.ts";
import type { WorkflowBindings } from "./instances/workflow-binding.ts";
import type { WorkflowRuntime } from "./workflow-runtime.ts";

/** Calls the workflow's function from its beginning. If its params can't be read, the execution fails without calling it. */
export async function runWorkflow(runtime: WorkflowRuntime, execution: Execution): Promise<unknown> {
  const { name, id, createdAt, schedule: trait } = execution.instance;
  const read = readParams(execution);
  if (read === null) return new Promise(() => {});
  const workflow = runtime.workflows.find(name) as RegisteredWorkflow; // instances of unknown workflows are never claimed
  const steps = new Steps(runtime, execution);
  let bindings: WorkflowBindings | undefined;
  const context = {
    get workflows() {
      bindings ??= createBindings(runtime, { ref: execution.instance.ref, step: steps });
      return bindings;
    },
    waitUntil: (promise: Promise<unknown>) => void Promise.resolve(promise).catch(() => {}),
  };
  const schedule = fromTrait(trait);
  const event: WorkflowEvent<unknown> = {
    payload: toPayload(workflow, read.params),
    timestamp: new Date(createdAt),
    instanceId: id,
    workflowName: name,
    ...(schedule === undefined ? {} : { schedule }),
  };
  const result = await call(workflow, event, steps, context, runtime.workflows.env);
  const schema = workflow.definition?.output ?? null;
  return applySchema(schema, result, `The result of the workflow "${name}"`, "output.invalid");
}

function readParams(execution: Execution): { readonly params: unknown } | null {
  try {
    return { params: decodeValue(execution.instance.params) };
  } catch (error) {
    execution.fail(error);
    return null;
  }
}

/** As on Cloudflare, a class receives an empty object if no params were given. */
function toPayload({ definition }: RegisteredWorkflow, params: unknown): Readonly<unknown> {
  return definition === null && params === undefined ? {} : (params as Readonly<unknown>);
}

function call(
  { definition, entrypoint }: RegisteredWorkflow,
  event: WorkflowEvent<unknown>,
  steps: Steps,
  context: ExecutionContext,
  option: unknown,
): unknown {
  const env = evaluateEnv(option, context.workflows);
  if (definition !== null) return definition.run(event as never, steps as never, withEnv(context, env) as never);
  const instance = constructEntrypoint(entrypoint as WorkflowEntrypointClass, context, env);
  return instance.run(event as never, steps as never);
}

function withEnv(context: ExecutionContext, env: unknown): WorkflowContext {
  return {
    env,
    get workflows() {
      return context.workflows;
    },
  };
}

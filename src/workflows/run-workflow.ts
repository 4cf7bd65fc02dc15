import { applySchema } from "../schema.ts";
import { decodeValue } from "../values/index.ts";
import type { WorkflowContext } from "./define/define-workflow.ts";
import { constructEntrypoint, type ExecutionContext } from "./define/entrypoint.ts";
import { evaluateEnv, type WorkflowVersion } from "./define/registered-workflows.ts";
import { fromTrait, type WorkflowEvent } from "./define/workflow-event.ts";
import type { WorkflowEntrypointClass } from "./define/workflow-types.ts";
import type { Execution } from "./execution/execution.ts";
import { Steps } from "./execution/steps/steps.ts";
import { createBindings } from "./instances/create/create-bindings.ts";
import type { WorkflowBindings } from "./instances/workflow-binding.ts";
import { provideEnv } from "./present-env.ts";
import type { WorkflowRuntime } from "./workflow-runtime.ts";

/** Calls the workflow's function from its beginning. If its params can't be read, the execution fails without calling it. */
export function runWorkflow(runtime: WorkflowRuntime, execution: Execution): unknown {
  const { name, id, createdAt, schedule: trait } = execution.instance;
  const read = readParams(execution);
  if (read === null) return new Promise(() => {});
  const workflow = runtime.workflows.findVersion(execution.instance) as WorkflowVersion; // no other is claimed
  const steps = new Steps(runtime, execution);
  const schedule = fromTrait(trait);
  const event: WorkflowEvent<unknown> = {
    payload: toPayload(workflow, read.params),
    timestamp: new Date(createdAt),
    instanceId: id,
    workflowName: name,
    ...(schedule === undefined ? {} : { schedule }),
  };
  const result = call(runtime, workflow, event, steps, execution);
  const schema = workflow.definition?.output ?? null;
  if (schema === null) return result;
  return Promise.resolve(result).then((output) =>
    applySchema(schema, output, `The result of the workflow "${name}"`, "output.invalid"),
  );
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
function toPayload({ definition }: WorkflowVersion, params: unknown): Readonly<unknown> {
  return definition === null && params === undefined ? {} : (params as Readonly<unknown>);
}

function call(
  runtime: WorkflowRuntime,
  { definition, entrypoint }: WorkflowVersion,
  event: WorkflowEvent<unknown>,
  step: Steps,
  execution: Execution,
): unknown {
  const { env: option } = runtime.workflows;
  let bindings: WorkflowBindings | undefined;
  const getBindings = () => {
    bindings ??= createBindings(runtime, { ref: execution.instance.ref, step });
    return bindings;
  };
  const given = typeof option === "function" ? evaluateEnv(option, getBindings()) : option;
  if (definition !== null) {
    const context: WorkflowContext = {
      env: given,
      get workflows() {
        return getBindings();
      },
    };
    return definition.run(event as never, step as never, context as never);
  }
  const context: ExecutionContext = {
    get workflows() {
      return getBindings();
    },
    waitUntil: (promise: Promise<unknown>) => {
      const { name: workflow, id: instance } = execution.instance;
      const log = (error: unknown) =>
        runtime.store.logger.error("A promise that was given to waitUntil was rejected.", {
          workflow,
          instance,
          error,
        });
      Promise.resolve(promise).catch(log);
    },
  };
  const env = given ?? getBindings(); // as a Worker's fetch gets it
  provideEnv(execution, env);
  const instance = constructEntrypoint(entrypoint as WorkflowEntrypointClass, context, env);
  return instance.run(event as never, step as never);
}

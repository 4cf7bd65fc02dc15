import type { AnyHookDefinition } from "../hooks/define-hook.ts";
import type { HookSurroundings } from "../hooks/hook-context.ts";
import type { HookSupplements, RegisteredHooks } from "../hooks/registered-hooks.ts";
import { ENDED_PARENT } from "../store/instances/instance-records.ts";
import type { Store } from "../store/store.ts";
import { evaluateEnv, RegisteredWorkflows } from "./define/registered-workflows.ts";
import { parseWorkflowLimits } from "./define/workflow-settings.ts";
import { endedParentHook } from "./instances/create/bound-children.ts";
import { createBindings } from "./instances/create/create-bindings.ts";
import { WorkflowRuntime } from "./workflow-runtime.ts";

/**
 * The runtime of an application's workflows, and what these add to its hooks: the hooks at the end of a run, and the workflows
 * and the `env` that handlers find.
 */
export function withWorkflows<Parts extends { readonly store: Store; readonly hooks: RegisteredHooks }>(
  workflows: RegisteredWorkflows,
  build: (supplements: HookSupplements) => Parts,
): Parts & { readonly workflows: WorkflowRuntime } {
  let surroundings: HookSurroundings | undefined;
  const parts = build({
    internal: internalHooks(workflows, () => runtime),
    surroundings: () => {
      surroundings ??= createSurroundings(runtime);
      return surroundings;
    },
  });
  const runtime = new WorkflowRuntime(parts.store, workflows, parts.hooks.settings.telemetry);
  return { ...parts, workflows: runtime };
}

function internalHooks(
  workflows: RegisteredWorkflows,
  runtime: () => WorkflowRuntime,
): ReadonlyMap<string, AnyHookDefinition> {
  if (workflows.names.length === 0) return workflows.endingHooks;
  return new Map([...workflows.endingHooks, [ENDED_PARENT, endedParentHook(runtime)]]);
}

function createSurroundings(runtime: WorkflowRuntime): HookSurroundings {
  const workflows = createBindings(runtime);
  return { workflows, env: evaluateEnv(runtime.workflows.env, workflows) };
}

const workflowless = new WeakMap<Store, Map<string, WorkflowRuntime>>();

/**
 * The runtime of an application that has no workflows: operators may still find instances in its database. One for each
 * namespace.
 */
export function withoutWorkflows(store: Store, namespace: string): WorkflowRuntime {
  const known = workflowless.get(store) ?? new Map<string, WorkflowRuntime>();
  workflowless.set(store, known);
  const runtime =
    known.get(namespace) ??
    new WorkflowRuntime(store, new RegisteredWorkflows(namespace, {}, parseWorkflowLimits(), undefined));
  known.set(namespace, runtime);
  return runtime;
}

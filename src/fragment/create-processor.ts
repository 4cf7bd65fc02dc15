import { InvalidInputError } from "../errors.ts";
import { HookLineSource } from "../hooks/hook-line-source.ts";
import { HookSource } from "../hooks/hook-source.ts";
import type { RegisteredHooks } from "../hooks/registered-hooks.ts";
import { JobWork } from "../jobs/job-work.ts";
import { Processor, type ProcessorSource } from "../queue/processor.ts";
import { UnclaimedWatch } from "../queue/unclaimed-watch.ts";
import type { ClaimedHook } from "../store/hooks/hook-records.ts";
import type { Store } from "../store/store.ts";
import { withoutWorkflows } from "../workflows/hook-supplements.ts";
import { InstanceSource } from "../workflows/instance-source.ts";
import { LineSource } from "../workflows/line-source.ts";
import { ScheduleKeeper } from "../workflows/schedules/schedule-keeper.ts";
import { TendingSource } from "../workflows/tending-source.ts";
import type { WorkflowRuntime } from "../workflows/workflow-runtime.ts";
import { type AnyFragment, Fragment } from "./fragment.ts";

/** The work of some fragments, for a dispatcher. */
export type DurableHooksProcessor = Processor;

/**
 * The hooks, workflows and schedules of these fragments, for a dispatcher; `null` if they have none.
 *
 * @example
 * const processor = createDurableHooksProcessor(fragment);
 * if (processor) createDurableHooksDispatcher({ processor }).startPolling();
 */
export function createDurableHooksProcessor(
  fragments: AnyFragment | readonly AnyFragment[],
): DurableHooksProcessor | null {
  const hooksOf = new Map<Store, RegisteredHooks[]>();
  const workflowsOf = new Map<Store, WorkflowRuntime[]>();
  const runtimes = new Map<Store, Map<string, WorkflowRuntime>>();
  for (const fragment of [fragments].flat()) {
    if (!(fragment instanceof Fragment)) {
      throw new InvalidInputError(
        "processor.invalid",
        "createDurableHooksProcessor takes a fragment, or an array of them.",
      );
    }
    const { store, hooks, workflows } = fragment.parts;
    const runsWorkflows = workflows !== null && workflows.workflows.names.length > 0;
    // On PostgreSQL, calls on workflows in the application's own transaction may have left relays.
    if (hooks.claimable.length > 0 || (runsWorkflows && store.engine.dialect === "postgres"))
      add(hooksOf, store, hooks);
    if (runsWorkflows) add(workflowsOf, store, workflows);
    const known = runtimes.get(store) ?? new Map<string, WorkflowRuntime>();
    runtimes.set(store, known.set(hooks.namespace, workflows ?? withoutWorkflows(store, hooks.namespace)));
  }
  const watches = new Map(
    [...new Set([...hooksOf.keys(), ...workflowsOf.keys()])].map((store) => {
      return [store, createWatch(store, hooksOf.get(store) ?? [], workflowsOf.get(store) ?? [])] as const;
    }),
  );
  const sources = [
    ...Array.from(hooksOf, ([store, hooks]) => {
      const toJob = (row: ClaimedHook) => new JobWork(row, runtimes.get(store)?.get(row.namespace) as WorkflowRuntime);
      const source = new HookSource(store, hooks, watches.get(store), toJob);
      return [source, new HookLineSource(source, hooks)];
    }).flat(),
    ...Array.from(workflowsOf, ([store, workflows]) => {
      return createWorkflowSources(store, workflows, watches.get(store));
    }).flat(),
  ];
  return sources.length === 0 ? null : new Processor(sources);
}

function createWatch(
  store: Store,
  hooks: readonly RegisteredHooks[],
  runtimes: readonly WorkflowRuntime[],
): UnclaimedWatch {
  const namespaces = new Set([...hooks, ...runtimes].map(({ namespace }) => namespace));
  const namesIn = (namespace: string) => ({
    hooks: hooks.find((one) => one.namespace === namespace)?.names ?? [],
    workflows: runtimes.find((one) => one.namespace === namespace)?.workflows.names ?? [],
  });
  return new UnclaimedWatch(store, new Map([...namespaces].map((namespace) => [namespace, namesIn(namespace)])));
}

function createWorkflowSources(
  store: Store,
  workflows: readonly WorkflowRuntime[],
  watch: UnclaimedWatch | undefined,
): ProcessorSource[] {
  const instances = new InstanceSource(store, workflows, watch);
  return [
    instances,
    new LineSource(instances, workflows),
    new TendingSource(store, workflows, (runtime) => new ScheduleKeeper(runtime)),
    new TendingSource(store, workflows, ({ timeouts }) => timeouts),
  ];
}

function add<Part extends { readonly namespace: string }>(parts: Map<Store, Part[]>, store: Store, part: Part): void {
  const known = parts.get(store) ?? [];
  if (known.some(({ namespace }) => namespace === part.namespace)) {
    throw new InvalidInputError("processor.invalid", `The namespace "${part.namespace}" appears twice.`);
  }
  parts.set(store, [...known, part]);
}

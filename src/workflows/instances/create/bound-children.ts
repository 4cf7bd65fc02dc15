import { ConflictError, InvalidInputError, PerdureError } from "../../../errors.ts";
import { type AnyHookDefinition, defineHook } from "../../../hooks/define-hook.ts";
import {
  BOUND_CHILDREN,
  type EndedParent,
  type InstanceName,
  type InstanceRecord,
  PARENT_LABEL,
  UNFINISHED_STATUSES,
} from "../../../store/instances/instance-records.ts";
import type { RegisteredWorkflow } from "../../define/registered-workflows.ts";
import type { WorkflowRuntime } from "../../workflow-runtime.ts";
import { InstanceHandle } from "../instance-handle.ts";
import type { CreatedInstance } from "./create.ts";
import type { ChildOptions, CreateOptions } from "./create-options.ts";

/** How many children are ended at a time. */
const PAGE = 100;
/** Ends that are no failure: the child has ended by itself, was deleted, or was restarted, which is a decision of its own. */
const ENDED: readonly string[] = ["instance.finished", "instance.not_found", "instance.run_changed"];

/** Separates the options of a child from those of any instance. */
export function splitChildOptions(options: (CreateOptions<unknown> & ChildOptions) | undefined): {
  readonly create: CreateOptions<unknown> | undefined;
  readonly ends: boolean;
} {
  if (typeof options !== "object" || options === null || !("onParentEnd" in options)) {
    return { create: options, ends: false };
  }
  const { onParentEnd = "leave", ...create } = options;
  if (onParentEnd !== "leave" && onParentEnd !== "terminate") {
    throw new InvalidInputError("create.invalid", 'onParentEnd must be "leave" or "terminate".');
  }
  return { create, ends: onParentEnd === "terminate" };
}

/**
 * Makes the end of a parent end this child. The child exists already and carries the parent's ref, so an end from now on finds
 * it. If the parent has ended since, its end may have come before the child: then the child is ended here. An instance that
 * another caller created, and that `onConflict: "return"` gave, doesn't end with this parent.
 */
export async function bindChild(
  runtime: WorkflowRuntime,
  parent: InstanceName & { readonly ref: string },
  workflow: RegisteredWorkflow,
  { insert, outcome }: CreatedInstance,
): Promise<void> {
  const { store } = runtime;
  if (outcome === "existing") {
    const [existing] = await store.instances.statements.find([insert]);
    if (existing !== null && existing !== undefined && !isBoundTo(parent, existing)) throw notOurs(insert);
  }
  const { result } = await store.instances.awaitEnd({ instance: parent, waiter: BOUND_CHILDREN });
  if (result !== "waiting") await end(new InstanceHandle(runtime, workflow, insert.id));
}

/** An earlier run of the parent may have created it. */
function isBoundTo({ ref }: { readonly ref: string }, { labels }: InstanceRecord): boolean {
  return labels !== null && (JSON.parse(labels) as Record<string, string>)[PARENT_LABEL] === ref;
}

function notOurs({ name, id }: InstanceName): ConflictError {
  return new ConflictError(
    "instance.already_exists",
    `The workflow "${name}" has an instance "${id}" that this workflow didn't create, and that can't end with it. ` +
      'Give another id, or leave out onParentEnd: "terminate".',
  );
}

/** The hook that a parent's end triggers. It runs in a process that has workflows of the namespace. */
export function endedParentHook(runtime: () => WorkflowRuntime): AnyHookDefinition {
  return defineHook({ retries: { limit: 1000 } }, (parent: EndedParent, { signal }) =>
    endChildren(runtime(), parent, signal),
  );
}

async function endChildren(runtime: WorkflowRuntime, parent: EndedParent, signal: AbortSignal): Promise<void> {
  const unknown = new Set<string>();
  let after: string | null = null;
  for (;;) {
    signal.throwIfAborted();
    const page: readonly InstanceRecord[] = await listChildren(runtime, parent, after);
    const children = page.filter((child) => runOfParent(child) <= parent.run);
    await Promise.all(children.map((child) => endChild(runtime, child, unknown)));
    after = page.at(-1)?.ref ?? null;
    if (page.length < PAGE) break;
  }
  if (unknown.size === 0) return;
  throw new PerdureError(
    "workflow.not_found",
    `Children of an ended parent are instances of workflows that this process doesn't have: ${[...unknown].join(", ")}.`,
  );
}

/** Unfinished ones, of all runs. */
function listChildren(
  { store, namespace }: WorkflowRuntime,
  { ref }: EndedParent,
  after: string | null,
): Promise<InstanceRecord[]> {
  const anyTime = { createdFrom: null, createdBefore: null, finishedFrom: null, finishedBefore: null };
  const place = { after, order: "oldest", limit: PAGE } as const;
  const labels = [[PARENT_LABEL, ref]] as const;
  return store.instances.statements.list({
    ...anyTime,
    ...place,
    namespace,
    name: null,
    statuses: UNFINISHED_STATUSES,
    labels,
  });
}

async function endChild(runtime: WorkflowRuntime, child: InstanceRecord, unknown: Set<string>): Promise<void> {
  const workflow = runtime.workflows.find(child.name);
  if (workflow === undefined) unknown.add(child.name);
  else await end(new InstanceHandle(runtime, workflow, child.id, { only: { ref: child.ref, run: child.run } }));
}

async function end(child: InstanceHandle): Promise<void> {
  try {
    await child.terminate({ rollback: true });
  } catch (error) {
    if (!(error instanceof PerdureError && ENDED.includes(error.code))) throw error;
  }
}

/** In which of its runs the parent created it. */
function runOfParent({ parent }: InstanceRecord): number {
  const [, , , run] = JSON.parse(parent ?? "[]") as [string, string, string, number];
  return run ?? Number.POSITIVE_INFINITY;
}

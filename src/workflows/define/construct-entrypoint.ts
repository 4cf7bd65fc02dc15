import { type ExecutionContext, WorkflowEntrypoint } from "./entrypoint.ts";
import type { WorkflowEntrypointClass } from "./workflow-types.ts";

/** Ours may be called otherwise: bundlers rename classes. */
const CLOUDFLARES = "WorkflowEntrypoint";

type AnyClass = WorkflowEntrypointClass & { readonly name: string };

/**
 * Makes the object of a workflow that is a class. On Cloudflare itself the class may extend Cloudflare's own `WorkflowEntrypoint`, which
 * takes no context but Cloudflare's: then it extends ours while it is constructed, and only then, so that it is of use to both.
 */
export function constructEntrypoint(
  entrypoint: WorkflowEntrypointClass,
  context: ExecutionContext,
  env: unknown,
): InstanceType<WorkflowEntrypointClass> {
  const heir = heirOfCloudflares(entrypoint as AnyClass);
  if (heir === null) return new entrypoint(context, env);
  const parent: unknown = Object.getPrototypeOf(heir);
  Object.setPrototypeOf(heir, WorkflowEntrypoint);
  try {
    const workflow = new entrypoint(context, env);
    Object.defineProperty(workflow, "workflows", { get: () => context.workflows, configurable: true });
    return workflow;
  } finally {
    Object.setPrototypeOf(heir, parent as object);
  }
}

/** The class among its ancestors that extends Cloudflare's. Null if none does. */
function heirOfCloudflares(entrypoint: AnyClass): AnyClass | null {
  let heir = entrypoint;
  for (;;) {
    const parent = Object.getPrototypeOf(heir) as AnyClass | null;
    if (parent === null || parent === Function.prototype || parent === (WorkflowEntrypoint as unknown)) return null;
    if (parent.name === CLOUDFLARES && isNative(parent)) return heir;
    heir = parent;
  }
}

function isNative(one: AnyClass): boolean {
  return Function.prototype.toString.call(one).includes("[native code]");
}

import type { WorkflowBindings } from "../instances/workflow-binding.ts";
import type { WorkflowStep } from "./step.ts";
import type { WorkflowEvent } from "./workflow-event.ts";
import type { WorkflowEntrypointClass } from "./workflow-types.ts";

/** The first argument of a `WorkflowEntrypoint`'s constructor. */
export interface ExecutionContext {
  readonly workflows: WorkflowBindings;
  /**
   * As on Cloudflare, where it keeps a Worker alive. Here it only logs a rejection. Work that must happen belongs in a step.
   */
  waitUntil(promise: Promise<unknown>): void;
}

/**
 * A workflow as a class, as on Cloudflare.
 *
 * @example
 * class Checkout extends WorkflowEntrypoint<Env, Order> {
 *   async run(event: Readonly<WorkflowEvent<Order>>, step: WorkflowStep) {
 *     return await step.do("charge", () => this.env.payments.charge(event.payload));
 *   }
 * }
 */
export abstract class WorkflowEntrypoint<Env = unknown, Params = unknown, Bindings = WorkflowBindings> {
  /** The `env` of the application. */
  protected readonly env: Env;
  protected readonly ctx: ExecutionContext;

  constructor(ctx: ExecutionContext, env: Env) {
    this.ctx = ctx;
    this.env = env;
  }

  /** The workflows of the application. A `create` here is a step: it happens once. */
  get workflows(): Bindings {
    return this.ctx.workflows as Bindings;
  }

  abstract run(event: Readonly<WorkflowEvent<Params>>, step: WorkflowStep): Promise<unknown>;
}

/** The name of Cloudflare's class. The name of ours can differ, because bundlers rename classes. */
const CLOUDFLARES = "WorkflowEntrypoint";

type AnyClass = WorkflowEntrypointClass & { readonly name: string };

/**
 * Constructs a workflow that is a class. On Cloudflare the class may extend Cloudflare's own `WorkflowEntrypoint`, which
 * accepts only Cloudflare's context. Such a class extends ours while it is constructed, and only then, so that both can use it.
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

/** The ancestor that directly extends Cloudflare's class; null if there is none. */
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

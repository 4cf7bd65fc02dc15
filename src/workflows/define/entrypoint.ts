import type { WorkflowBindings } from "../instances/workflow-binding.ts";
import type { WorkflowStep } from "./step.ts";
import type { WorkflowEvent } from "./workflow-event.ts";

/** Given to the constructor of a `WorkflowEntrypoint`; it carries what `this.workflows` gives. */
export interface ExecutionContext {
  readonly workflows: WorkflowBindings;
  /** As on Cloudflare, where it keeps a Worker alive. Here it lets a rejection be nobody's. What must happen belongs into a step. */
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
  /** Of the application. */
  protected readonly env: Env;
  protected readonly ctx: ExecutionContext;

  constructor(ctx: ExecutionContext, env: Env) {
    this.ctx = ctx;
    this.env = env;
  }

  /** The workflows of the application. An instance that is created here is created once, as a step is. */
  get workflows(): Bindings {
    return this.ctx.workflows as Bindings;
  }

  abstract run(event: Readonly<WorkflowEvent<Params>>, step: WorkflowStep): Promise<unknown>;
}

import type { RetryPolicy } from "../queue/retry-policy.ts";
import type { ClaimedHook } from "../store/hooks/hook-records.ts";
import { decodeValue } from "../values/index.ts";
import type { WorkflowBindings } from "../workflows/instances/workflow-binding.ts";

/** What handlers and workflows find in their application. */
export interface HookSurroundings<Env = unknown> {
  /** The workflows of the application. A `create` with an id made from the `idempotencyKey` happens once for all attempts. */
  readonly workflows: WorkflowBindings;
  /** The `env` of the application, as workflows have it. */
  readonly env: Env;
}

/** The call that a handler handles. */
export interface HookContext<Env = unknown> extends HookSurroundings<Env> {
  readonly hookId: string;
  readonly hookName: string;
  readonly namespace: string;
  /** The same for every attempt at one trigger, and never for two triggers: give it to services that remember such keys. */
  readonly idempotencyKey: string;
  readonly status: "processing";
  /** With this one. */
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly createdAt: Date;
  /** When the attempt before this one began; null in the first. */
  readonly lastAttemptAt: Date | null;
  /** For when this attempt was scheduled, if it is a retry. */
  readonly nextRetryAt: Date | null;
  /** When this attempt was due. */
  readonly processAt: Date;
  /** Aborted when the handler took too long, when its lease was lost, and when the process must stop. */
  readonly signal: AbortSignal;
  readonly traceContext: TraceContext | null;
}

/** W3C trace context, as the code that triggered the hook had it. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** The argument of a handler that describes its call. */
export class HookCall implements HookContext {
  readonly hookId: string;
  readonly hookName: string;
  readonly namespace: string;
  readonly idempotencyKey: string;
  readonly status = "processing";
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly createdAt: Date;
  readonly lastAttemptAt: Date | null;
  readonly nextRetryAt: Date | null;
  readonly processAt: Date;
  readonly traceContext: TraceContext | null;
  readonly signal: AbortSignal;
  readonly #surroundings: () => HookSurroundings;

  constructor(hook: ClaimedHook, policy: RetryPolicy, signal: AbortSignal, surroundings: () => HookSurroundings) {
    this.#surroundings = surroundings;
    this.hookId = hook.id;
    this.hookName = hook.name;
    this.namespace = hook.namespace;
    this.idempotencyKey = `${hook.id}:${hook.triggers}`;
    this.attempts = hook.attempts;
    this.maxAttempts = policy.limit + 1;
    this.createdAt = new Date(hook.createdAt);
    this.lastAttemptAt = hook.lastAttemptAt === null ? null : new Date(hook.lastAttemptAt);
    this.processAt = new Date(hook.dueAt);
    this.nextRetryAt = hook.attempts > 1 ? this.processAt : null;
    this.traceContext = hook.trace === null ? null : (decodeValue(hook.trace) as TraceContext);
    this.signal = signal;
  }

  get workflows(): WorkflowBindings {
    return this.#surroundings().workflows;
  }

  get env(): unknown {
    return this.#surroundings().env;
  }
}

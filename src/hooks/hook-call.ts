import type { RetryPolicy } from "../queue/retry-policy.ts";
import type { ClaimedHook } from "../store/hooks/hook-records.ts";
import { decodeValue } from "../values/index.ts";
import type { HookContext, TraceContext } from "./hook-context.ts";

/** What a handler is told. */
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

  constructor(hook: ClaimedHook, policy: RetryPolicy, signal: AbortSignal) {
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
}

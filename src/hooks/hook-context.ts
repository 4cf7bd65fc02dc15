/** What a handler knows about the call that it handles. */
export interface HookContext {
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

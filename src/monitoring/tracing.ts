/** W3C trace context. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** A hook that is triggered. */
export interface TracedTrigger {
  readonly namespace: string;
  readonly name: string;
}

/** An attempt at a hook. */
export interface TracedHook extends TracedTrigger {
  readonly id: string;
  readonly attempt: number;
  /** As it was stored with the trigger. */
  readonly context: TraceContext | null;
  /** The worker that has claimed it. */
  readonly worker: string;
}

/** A run of an instance. */
export interface TracedRun {
  readonly namespace: string;
  readonly name: string;
  readonly id: string;
  readonly ref: string;
  readonly run: number;
  /** When the instance was created. */
  readonly createdAt: number;
  /** When a worker began this run; null if none did. */
  readonly startedAt: number | null;
  /** The context that was stored with the instance, as `creates` gave it. */
  readonly trace: string | null;
}

/** An attempt at a step. */
export interface TracedStep {
  readonly type: string;
  readonly name: string;
  readonly count: number;
  readonly attempt: number;
  /** Whether it takes a step back. */
  readonly undoes: boolean;
}

/** The span of an attempt. */
export interface WorkSpan {
  /** Calls a function whose own spans are inside this one. */
  run<Result>(body: () => Result): Result;
  /** Only the first call counts. `error` is what failed. */
  end(outcome: string, error?: unknown): void;
}

/** The trace of a run, as one worker sees it. */
export interface RunTrace {
  /** Calls the function of the workflow. */
  run<Result>(main: () => Result): Result;
  /** An attempt at a step begins. A step that is replayed has none. */
  begin(step: TracedStep): WorkSpan;
}

/** Makes spans of what an application does, such as `openTelemetry()` of `perdure/opentelemetry`. */
export interface Telemetry {
  /** A hook is triggered: gives the context that is stored with it. */
  triggers(hook: TracedTrigger): TraceContext | null;
  attempts(hook: TracedHook): WorkSpan;
  /**
   * An instance is created: gives the context that is stored with it, a `traceparent`, and after a space the `tracestate`, if
   * any.
   */
  creates(workflow: TracedTrigger): string | null;
  /** A worker runs an instance. */
  runs(run: TracedRun, worker: string): RunTrace;
  /** A run is over. */
  finished(run: TracedRun, outcome: string): void;
}

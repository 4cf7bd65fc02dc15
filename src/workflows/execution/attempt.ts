import { AttemptAbortedError, PerdureError } from "../../errors.ts";
import type { RunTrace, TracedStep, WorkSpan } from "../../monitoring/tracing.ts";
import { isThenable } from "../../schema.ts";
import type { InstanceRun } from "../../store/instances/instance-records.ts";
import { tame } from "../../values/index.ts";
import type { WorkflowStepContext } from "../define/step.ts";
import { RollbackCall } from "../rollback/rollback-call.ts";
import type { BodyCall } from "./steps/step-call.ts";
import { describePolicy } from "./steps/step-config.ts";
import { runInside, type StepScope } from "./steps/step-scope.ts";

/** The execution that runs attempts. It learns of the end of each exactly once, unless the attempt was dropped. */
export interface AttemptOwner {
  readonly instance: InstanceRun;
  readonly trace: RunTrace | null;
  completed(attempt: Attempt, value: unknown): void;
  failed(attempt: Attempt, error: unknown): void;
  /** Stores a value that the attempt emits. */
  emit(attempt: Attempt, value: unknown): Promise<void>;
  /** Stores a stream that the body returned, to its end; gives the reference to remember. */
  keepStream(attempt: Attempt, stream: ReadableStream<unknown>): Promise<unknown>;
  /** Runs the body in a transaction, as soon as it can begin. */
  transact(attempt: Attempt): void;
}

/**
 * One attempt at a step's body. It ends with its result, its error, its timeout, or by being dropped, whichever comes first.
 */
export class Attempt {
  readonly call: BodyCall;
  readonly owner: AttemptOwner;
  /** By the monotonic clock, as `endsAt`. */
  readonly startedAt: number;
  readonly endsAt: number;
  readonly context: WorkflowStepContext;
  /** Counts the steps that the body calls; created by the first. */
  scope: StepScope | null = null;
  span: WorkSpan | null = null;
  #controller: AbortController | undefined;
  #reason: AttemptAbortedError | undefined;
  #over = false;

  constructor(call: BodyCall, owner: AttemptOwner, startedAt: number, timeoutMs: number) {
    this.call = call;
    this.owner = owner;
    this.startedAt = startedAt;
    this.endsAt = startedAt + timeoutMs;
    this.context = createContext(this);
  }

  /** Calls the body. One that gives no promise has ended when this returns. */
  run(): void {
    this.span = this.owner.trace?.begin(toTraced(this.call)) ?? null;
    if (this.call.transaction !== null) {
      this.owner.transact(this);
      return;
    }
    let given: unknown;
    try {
      given = runInside(this);
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (!isThenable(given)) {
      this.#end(given);
      return;
    }
    Promise.resolve(given).then(
      (value) => this.#end(value),
      (error: unknown) => this.#fail(error),
    );
  }

  /** Resolves when the value is stored. */
  emit(value: unknown): Promise<void> {
    return this.#over ? refuseProgress() : this.owner.emit(this, value);
  }

  /** Whether it has ended, or was dropped. */
  get over(): boolean {
    return this.#over;
  }

  /** Its transaction has been committed. Returns false if it was dropped meanwhile. */
  conclude(): boolean {
    const dropped = this.#over;
    this.#over = true;
    this.span?.end("completed");
    return !dropped;
  }

  /** Its transaction was rolled back. */
  fail(thrown: unknown): void {
    this.#fail(thrown);
  }

  /** The body has taken too long: its signal is aborted. */
  abort(reason: AttemptAbortedError): void {
    this.#abort(reason);
  }

  /** Its time is over. */
  timeOut(): void {
    const { timeoutMs } = this.call.policy;
    const error = new AttemptAbortedError("step.timeout", `The step didn't end within ${timeoutMs} milliseconds.`);
    this.#abort(error);
    this.#fail(error);
  }

  /** Tells the body to stop; its result is ignored. */
  drop(reason: AttemptAbortedError): void {
    if (this.#over) return;
    this.#over = true;
    this.span?.end("dropped");
    this.#abort(reason);
  }

  signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  get idempotencyKey(): string {
    const { ref, run } = this.owner.instance;
    return `${ref}/${run}/${this.call.key}`;
  }

  /** With a stream, it continues until that has been read. A late result never counts. */
  #end(value: unknown): void {
    if (isStream(value)) {
      this.#keep(value);
    } else if (!this.#over) {
      this.#over = true;
      this.span?.end("completed");
      this.owner.completed(this, value);
    }
  }

  #keep(stream: ReadableStream<unknown>): void {
    if (this.#over) {
      stream.cancel(this.#reason).catch(() => {});
      return;
    }
    this.owner.keepStream(this, stream).then(
      (reference) => this.#end(reference),
      (error: unknown) => this.#fail(error),
    );
  }

  #fail(thrown: unknown): void {
    if (this.#over) return;
    this.#over = true;
    const error = tame(thrown);
    this.span?.end("failed", error);
    this.owner.failed(this, error);
  }

  #abort(reason: AttemptAbortedError): void {
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}

/**
 * The context of a body. Some of its properties are created when they are first read. They are own properties, so `{ ...ctx }`
 * has them all. Own getters would do the same, but cost more than a microsecond for each attempt.
 */
function createContext(attempt: Attempt): WorkflowStepContext {
  const { name, count, attempt: number } = attempt.call;
  const context = {
    step: { name, count },
    attempt: number,
    config: undefined,
    idempotencyKey: undefined,
    signal: undefined,
    emit: (value: unknown) => attempt.emit(value),
  };
  return new Proxy(context as object as WorkflowStepContext, new ContextReader(attempt));
}

type MutableContext = { -readonly [Key in keyof WorkflowStepContext]: WorkflowStepContext[Key] | undefined };

class ContextReader implements ProxyHandler<WorkflowStepContext> {
  readonly #attempt: Attempt;

  constructor(attempt: Attempt) {
    this.#attempt = attempt;
  }

  get(target: WorkflowStepContext, key: string | symbol): unknown {
    const context = target as MutableContext;
    if (key === "config") context.config ??= describePolicy(this.#attempt.call.policy);
    else if (key === "idempotencyKey") context.idempotencyKey ??= this.#attempt.idempotencyKey;
    else if (key === "signal") context.signal ??= this.#attempt.signal();
    return Reflect.get(target, key);
  }
}

function toTraced(call: BodyCall): TracedStep {
  const { type, name, count, attempt } = call;
  return { type, name, count, attempt, undoes: call instanceof RollbackCall };
}

/** The attempt has ended: it emits to no effect. */
function refuseProgress(): Promise<void> {
  const refused = Promise.reject(
    new PerdureError("progress.refused", "The attempt has ended, or is no longer ours: it can't emit any more."),
  );
  refused.catch(() => {});
  return refused;
}

/** Also a stream of another realm, or of a library. */
function isStream(value: unknown): value is ReadableStream<unknown> {
  if (typeof value !== "object" || value === null) return false;
  try {
    if (!("getReader" in value)) return false;
    return value instanceof ReadableStream || Object.prototype.toString.call(value) === "[object ReadableStream]";
  } catch {
    return false; // a proxy that can't be looked at is refused as a result
  }
}

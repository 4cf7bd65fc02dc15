import { AttemptAbortedError } from "../../errors.ts";
import { tame } from "../../values/index.ts";
import type { WorkflowStepContext } from "../define/step.ts";
import { refuseProgress } from "./refuse-progress.ts";
import type { BodyCall } from "./step-call.ts";
import { describePolicy } from "./step-config.ts";

/** How an attempt ended. */
export type AttemptResult = { readonly value: unknown } | { readonly error: unknown };

/** What an attempt needs of its surroundings, while it runs. */
export interface AttemptHelpers {
  /** Stores what it tells on the way. */
  emit(attempt: Attempt, value: unknown): Promise<void>;
  /** Stores a stream that its function gave, to its end; gives what to remember of it. */
  keep(attempt: Attempt, stream: ReadableStream<unknown>): Promise<unknown>;
}

/** For those that need none. */
const NO_HELPERS: AttemptHelpers = { emit: refuseProgress, keep: async (_attempt, stream) => stream };

/** What the function of a step is called with. What is seldom asked for is made when it is. */
function createContext(attempt: Attempt): WorkflowStepContext {
  const { name, count, attempt: number } = attempt.call;
  return {
    step: { name, count },
    attempt: number,
    get config() {
      return describePolicy(attempt.call.policy);
    },
    get idempotencyKey() {
      return attempt.idempotencyKey();
    },
    get signal() {
      return attempt.signal();
    },
    emit: (value) => attempt.emit(value),
  };
}

/** One attempt at a step's function. Whatever comes first ends it: its result, its error, its timeout, or its being dropped. */
export class Attempt {
  readonly call: BodyCall;
  readonly context: WorkflowStepContext;
  readonly idempotencyKey: () => string;
  /** By the monotonic clock. */
  readonly endsAt: number;
  readonly #onEnd: (attempt: Attempt, result: AttemptResult) => void;
  readonly #helpers: AttemptHelpers;
  #controller: AbortController | undefined;
  #reason: AttemptAbortedError | undefined;
  #over = false;

  /** `onEnd` is called exactly once, unless the attempt is dropped. */
  constructor(
    call: BodyCall,
    endsAt: number,
    idempotencyKey: () => string,
    onEnd: (attempt: Attempt, result: AttemptResult) => void,
    helpers: AttemptHelpers = NO_HELPERS,
  ) {
    this.call = call;
    this.endsAt = endsAt;
    this.idempotencyKey = idempotencyKey;
    this.#onEnd = onEnd;
    this.#helpers = helpers;
    this.context = createContext(this);
  }

  run(body: (ctx: WorkflowStepContext) => unknown): void {
    let running: unknown;
    try {
      running = body(this.context);
    } catch (error) {
      this.#fail(error);
      return;
    }
    Promise.resolve(running).then(
      (value) => (isStream(value) ? this.#keep(value) : this.#finish({ value })),
      (error: unknown) => this.#fail(error),
    );
  }

  /** Resolves when it is stored. */
  emit(value: unknown): Promise<void> {
    return this.#over ? refuseProgress() : this.#helpers.emit(this, value);
  }

  /** Its time is over. */
  timeOut(): void {
    const { timeoutMs } = this.call.policy;
    const error = new AttemptAbortedError("step.timeout", `The step didn't end within ${timeoutMs} milliseconds.`);
    this.#abort(error);
    this.#finish({ error });
  }

  /** Tells the function to stop; whatever it still gives is ignored. */
  drop(reason: AttemptAbortedError): void {
    if (this.#over) return;
    this.#over = true;
    this.#abort(reason);
  }

  signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** It goes on until the stream has been read. */
  #keep(stream: ReadableStream<unknown>): void {
    if (this.#over) {
      stream.cancel(this.#reason).catch(() => {});
      return;
    }
    this.#helpers.keep(this, stream).then(
      (value) => this.#finish({ value }),
      (error: unknown) => this.#fail(error),
    );
  }

  #fail(thrown: unknown): void {
    this.#finish({ error: tame(thrown) });
  }

  #finish(result: AttemptResult): void {
    if (this.#over) return; // a late result never counts
    this.#over = true;
    this.#onEnd(this, result);
  }

  #abort(reason: AttemptAbortedError): void {
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}

/** Also one of another realm, or of a library. */
function isStream(value: unknown): value is ReadableStream<unknown> {
  if (typeof value !== "object" || value === null) return false;
  try {
    if (!("getReader" in value)) return false;
    return value instanceof ReadableStream || Object.prototype.toString.call(value) === "[object ReadableStream]";
  } catch {
    return false; // a proxy that can't be looked at is refused as a result
  }
}

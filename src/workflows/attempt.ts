import type { Clock, Timer } from "../clock.ts";
import { AttemptAbortedError } from "../errors.ts";
import type { WorkflowStepContext } from "./step.ts";
import type { StepPolicy } from "./step-config.ts";
import { describePolicy } from "./step-config.ts";

/** One attempt at a step's function. Whatever comes first ends it: its result, its error, its timeout, or its being dropped. */
export class Attempt {
  readonly context: WorkflowStepContext;
  readonly #clock: Clock;
  #controller: AbortController | undefined;
  #reason: AttemptAbortedError | undefined;
  #timer: Timer | undefined;
  #over = false;

  constructor(
    clock: Clock,
    step: { name: string; count: number },
    attempt: number,
    policy: StepPolicy,
    idempotencyKey: string,
  ) {
    this.#clock = clock;
    const signalOf = () => this.#signal();
    this.context = {
      step: { name: step.name, count: step.count },
      attempt,
      get config() {
        return describePolicy(policy);
      },
      idempotencyKey,
      get signal() {
        return signalOf();
      },
    };
  }

  /** Calls `end` exactly once, unless the attempt is dropped. */
  run(
    body: (ctx: never) => unknown,
    timeoutMs: number,
    end: (result: { value: unknown } | { error: unknown }) => void,
  ): void {
    const finish = (result: { value: unknown } | { error: unknown }) => {
      if (this.#over) return; // a late result never counts
      this.#over = true;
      this.#timer?.cancel();
      end(result);
    };
    let running: unknown;
    try {
      running = body(this.context as never);
    } catch (error) {
      finish({ error });
      return;
    }
    Promise.resolve(running).then(
      (value) => finish({ value }),
      (error: unknown) => finish({ error }),
    );
    this.#timer = this.#clock.setTimer(() => {
      const error = new AttemptAbortedError("step.timeout", `The step didn't end within ${timeoutMs} milliseconds.`);
      this.#abort(error);
      finish({ error });
    }, timeoutMs);
  }

  /** Tells the function to stop; whatever it still gives is ignored. */
  drop(reason: AttemptAbortedError): void {
    if (this.#over) return;
    this.#over = true;
    this.#timer?.cancel();
    this.#abort(reason);
  }

  #abort(reason: AttemptAbortedError): void {
    this.#reason = reason;
    this.#controller?.abort(reason);
  }

  /** Made when it is asked for: most functions don't. */
  #signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }
}

/** The promise of a step, which knows whether any code has ever waited for it. */
export class StepPromise<Value> extends Promise<Value> {
  awaited = false;

  /** What is derived from it is a plain promise. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  /** Called by `await` too, because this isn't a plain promise. */
  // biome-ignore lint/suspicious/noThenProperty: it is a promise
  override then<Fulfilled = Value, Rejected = never>(
    onFulfilled?: ((value: Value) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    this.awaited = true;
    return super.then(onFulfilled, onRejected);
  }

  /** A rejection that no code waits for is no reason to end the process. */
  tolerate(): void {
    super.then(undefined, ignore);
  }
}

function ignore(): void {}

/** One at a time, in the order of asking. */
export class WriteMutex {
  #tail: Promise<void> = Promise.resolve();
  #callers = 0;

  async run<Result>(body: () => Result | Promise<Result>): Promise<Result> {
    const before = this.#tail;
    let leave = () => {};
    this.#tail = new Promise((resolve) => {
      leave = resolve;
    });
    const waited = this.#callers++ > 0;
    try {
      if (waited) await before;
      return await body();
    } finally {
      this.#callers--;
      leave();
    }
  }
}

/** One at a time, in the order of asking. */
export class WriteMutex {
  #tail: Promise<void> = Promise.resolve();
  #held = 0;

  /** Whether somebody is inside. */
  get held(): boolean {
    return this.#held > 0;
  }

  async run<Result>(body: () => Result | Promise<Result>): Promise<Result> {
    const before = this.#tail;
    let leave = () => {};
    this.#tail = new Promise((resolve) => {
      leave = resolve;
    });
    const waited = this.#held++ > 0;
    try {
      if (waited) await before;
      return await body();
    } finally {
      this.#held--;
      leave();
    }
  }
}

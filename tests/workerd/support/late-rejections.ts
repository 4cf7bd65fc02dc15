/**
 * workerd takes a rejected promise for unhandled that is handled a few microtasks later, as one is that an async function
 * returns. So those that were handled after all are taken back before Vitest hears of the rest.
 */
export class LateRejections {
  readonly #unhandled = new Map<Promise<unknown>, unknown>();
  readonly #listeners = process.listeners("unhandledRejection");

  constructor() {
    process.removeAllListeners("unhandledRejection");
    process.on("unhandledRejection", (error, promise) => this.#unhandled.set(promise, error));
    process.on("rejectionHandled", (promise) => this.#unhandled.delete(promise));
  }

  report(): void {
    for (const [promise, error] of this.#unhandled) for (const listener of this.#listeners) listener(error, promise);
    this.#unhandled.clear();
  }
}

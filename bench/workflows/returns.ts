import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";

const PAUSE_MILLISECONDS = 1;

/** Counts workflows whose functions have returned, so that the database isn't asked all the time whether they are finished. */
export class Returns {
  #count = 0;
  #wanted = Number.POSITIVE_INFINITY;
  #reached = () => {};
  #next: (() => void) | undefined;

  /** Call it with the result of a workflow's function. */
  async note<Result>(running: Promise<Result>): Promise<Result> {
    const result = await running;
    if (++this.#count >= this.#wanted) this.#reached();
    this.#next?.();
    return result;
  }

  /** Calls `start` this many times, with never more than `width` of the workflows unreturned. */
  async inFlight(count: number, width: number, start: (index: number) => Promise<unknown>): Promise<void> {
    let started = 0;
    await new Promise<void>((resolve, reject) => {
      // Not in the context of the workflow that returns: its steps would be thought to start the next one.
      this.#next = AsyncLocalStorage.bind(() => {
        if (started === count) return;
        start(started++).catch(reject);
        if (started === count) resolve();
      });
      for (let index = 0; index < Math.min(width, count); index++) this.#next();
    });
    this.#next = undefined;
  }

  /** Resolves when `count` workflows, from the first on, have returned, and are finished by what their database says. */
  async untilFinished(count: number, countFinished: () => Promise<number>): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wanted = count;
      this.#reached = resolve;
      if (this.#count >= count) resolve();
    });
    while ((await countFinished()) < count) await sleep(PAUSE_MILLISECONDS);
  }
}

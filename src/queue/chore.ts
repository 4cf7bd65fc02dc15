import type { Clock, Timer } from "../clock.ts";

export interface ChoreOptions {
  readonly clock: Clock;
  /** Returns the milliseconds until the next time; null if it only runs on request. */
  readonly body: () => Promise<number | null>;
  /** Receives the error of the body. Returns the milliseconds until the next try; null if it only runs on request. */
  readonly onFailure: (error: unknown) => number | null;
}

/**
 * A periodic task beside the claims of a process. If it fails, it is tried again later; if it gets no answer, it delays only
 * itself.
 */
export class Chore {
  readonly #options: ChoreOptions;
  #timer: Timer | undefined;
  #running: Promise<void> | undefined;
  #again = false;
  #stopped = false;

  constructor(options: ChoreOptions) {
    this.#options = options;
  }

  /** Runs within this many milliseconds. A request during a run leads to one more run. */
  within(milliseconds: number): void {
    if (this.#stopped) return;
    if (this.#running !== undefined) this.#again = true;
    else this.#schedule(milliseconds);
  }

  /** Stops. Resolves when no run is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#running;
  }

  #schedule(milliseconds: number): void {
    this.#timer?.cancel();
    if (milliseconds > 0) this.#timer = this.#options.clock.setTimer(() => this.#beginSoon(), milliseconds);
    else this.#beginSoon();
  }

  /** Requests in one turn of the event loop share one run. */
  #beginSoon(): void {
    let cancelled = false;
    this.#timer = {
      cancel: () => {
        cancelled = true;
      },
    };
    this.#options.clock.defer(() => cancelled || this.#begin());
  }

  #begin(): void {
    this.#timer = undefined;
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    const { body, onFailure } = this.#options;
    this.#again = false;
    const next = await body().catch(onFailure);
    this.#running = undefined;
    if (this.#stopped) return;
    if (this.#again) this.#schedule(0);
    else if (next !== null) this.#schedule(next);
  }
}

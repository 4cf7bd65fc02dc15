import type { Clock, Timer } from "../clock.ts";

export interface ChoreOptions {
  readonly clock: Clock;
  /** Gives milliseconds until it is to be done again; null if only when it is asked for. */
  readonly body: () => Promise<number | null>;
  /** Told what the body threw. Gives milliseconds until it is tried again; null if only when it is asked for. */
  readonly onFailure: (error: unknown) => number | null;
}

/**
 * Something that a process does from time to time, beside all else that it does. One that fails is tried again later; one that
 * gets no answer keeps only itself waiting.
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

  /** In so many milliseconds at the latest. What is asked for while it is under way is done once more after that. */
  within(milliseconds: number): void {
    if (this.#stopped) return;
    if (this.#running !== undefined) this.#again = true;
    else this.#schedule(milliseconds);
  }

  /** Begins no more. Resolves when nothing of it is under way. */
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

  /** What is asked for together is done together. */
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

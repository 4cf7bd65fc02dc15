import { setTimeout } from "node:timers";
import { settle } from "./controlled-clock.ts";

/** Taken at once: test runners replace the timers by fake ones. */
const realTimeout = setTimeout;

type Handler = (...parameters: never[]) => unknown;

/** How long a handler may take to do something that isn't seen from here, such as to read a file. */
const PATIENCE_MS = 50;

/** Knows which handlers run, and tells those that wait for time to pass from those that are busy. */
export class HandlerWatch {
  readonly #enter: (handler: () => unknown) => unknown;
  readonly #replies: () => number;
  #running = 0;
  #startsAndEnds = 0;
  /** The activity at which everything that ran was found to be waiting. */
  #stalledAt = -1;

  /** `enter` calls a handler; `replies` counts the answers that its process got from the database. */
  constructor(enter: (handler: () => unknown) => unknown, replies: () => number) {
    this.#enter = enter;
    this.#replies = replies;
  }

  watch<Watched extends Handler>(handler: Watched): Watched {
    const watched = async (...parameters: never[]) => {
      this.#startsAndEnds++;
      this.#running++;
      try {
        return await this.#enter(() => handler(...parameters));
      } finally {
        this.#running--;
        this.#startsAndEnds++;
      }
    };
    return watched as unknown as Watched;
  }

  /** Resolves with `work`, or as soon as all that is left of it are handlers that wait for time to pass, or for the test. */
  async untilStalled(work: Promise<void>): Promise<void> {
    const progress = { over: false };
    const finished = work.finally(() => {
      progress.over = true;
    });
    await Promise.race([finished, this.#stall(progress)]);
  }

  get #activity(): number {
    return this.#startsAndEnds + this.#replies();
  }

  async #stall(progress: { readonly over: boolean }): Promise<void> {
    while (!progress.over) {
      const before = this.#activity;
      await settle();
      if (before !== this.#activity) continue;
      if (this.#running > 0 && this.#stalledAt === before) return;
      await new Promise<void>((resolve) => realTimeout(resolve, PATIENCE_MS));
      if (before === this.#activity && this.#running > 0) this.#stalledAt = before;
    }
  }
}

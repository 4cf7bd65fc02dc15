import { setTimeout } from "node:timers";
import { settle } from "./controlled-clock.ts";

/** Taken at once: test runners replace the timers by fake ones. */
const realTimeout = setTimeout;

type Handler = (...parameters: never[]) => unknown;

/** How long a handler may take to do something that isn't seen from here, such as to read a file. */
const PATIENCE_MS = 50;

/** What else runs in a process. */
export interface OtherWork {
  /** How many wait for time to pass, or for something to arrive, and do nothing else. */
  readonly waiting: number;
  readonly busy: number;
}

interface HandlerWatchOptions {
  /** Calls a handler. */
  readonly enter: (handler: () => unknown) => unknown;
  /** Counts the answers that its process got from the database. */
  readonly replies: () => number;
  readonly others: () => OtherWork;
}

/** Knows which handlers run, and tells those that wait for time to pass from those that are busy. */
export class HandlerWatch {
  readonly #options: HandlerWatchOptions;
  #running = 0;
  #startsAndEnds = 0;
  /** The activity at which everything that ran was found to be waiting. */
  #stalledAt = -1;

  constructor(options: HandlerWatchOptions) {
    this.#options = options;
  }

  watch<Watched extends Handler>(handler: Watched): Watched {
    const watched = async (...parameters: never[]) => {
      this.#startsAndEnds++;
      this.#running++;
      try {
        return await this.#options.enter(() => handler(...parameters));
      } finally {
        this.#running--;
        this.#startsAndEnds++;
      }
    };
    return watched as unknown as Watched;
  }

  /**
   * Resolves with `work`, or as soon as all that is left of it is known to wait for time to pass. With `untilStalled` also when
   * what is left does nothing that we can see: then it waits for time too, or for the test.
   */
  async untilWaiting(work: Promise<void>, { untilStalled }: { untilStalled: boolean }): Promise<void> {
    const progress = { over: false };
    const finished = work.finally(() => {
      progress.over = true;
    });
    await Promise.race([finished, this.#untilWaiting(progress, untilStalled)]);
  }

  get #activity(): number {
    return this.#startsAndEnds + this.#options.replies();
  }

  async #untilWaiting(progress: { readonly over: boolean }, untilStalled: boolean): Promise<void> {
    while (!progress.over) {
      const before = this.#activity;
      await settle();
      if (before !== this.#activity) continue;
      const { waiting, busy } = this.#options.others();
      const running = this.#running + busy;
      if (running === 0 && waiting > 0) return;
      if (untilStalled && running > 0 && this.#stalledAt === before) return;
      await new Promise<void>((resolve) => realTimeout(resolve, PATIENCE_MS));
      if (before === this.#activity && running > 0) this.#stalledAt = before;
    }
  }
}

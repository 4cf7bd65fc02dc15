import type { Clock } from "../../../clock.ts";

/** How many answers, and for how long, may pass without a turn of the event loop. */
const MOST_ANSWERS = 16;
const LONGEST_MS = 5;

/**
 * SQLite answers without ever leaving the present turn of the event loop. A caller that asks again as soon as it has an answer,
 * as a loop on `status()` does, would keep timers, sockets and all other work of the process from running. So now and then an
 * answer waits for the next turn. Code that waits for the event loop anyway doesn't notice.
 */
export class EventLoopTurns {
  readonly #clock: Clock;
  #answers = 0;
  #lastTurnAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#lastTurnAt = clock.monotonic();
  }

  /** Undefined where the answer needn't wait. */
  next(): Promise<void> | undefined {
    this.#answers++;
    const now = this.#clock.monotonic();
    if (this.#answers < MOST_ANSWERS && now - this.#lastTurnAt < LONGEST_MS) return undefined;
    this.#answers = 0;
    this.#lastTurnAt = now;
    return new Promise((resolve) => this.#clock.defer(resolve));
  }
}

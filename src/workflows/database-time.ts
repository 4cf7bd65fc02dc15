import type { Clock } from "../clock.ts";

/**
 * The database's time, as far as its last answer and a clock that never jumps tell. Never ahead of it: what has come due here
 * has come due there.
 */
export class DatabaseTime {
  readonly #clock: Clock;
  #at = 0;
  #seenAt = 0;

  constructor(clock: Clock, at: number) {
    this.#clock = clock;
    this.observe(at);
  }

  /** An answer that was just received says that it was this time. */
  observe(at: number): void {
    const monotonic = this.#clock.monotonic();
    if (at < this.#at + (monotonic - this.#seenAt)) return;
    this.#at = at;
    this.#seenAt = monotonic;
  }

  now(): number {
    return Math.floor(this.#at + (this.#clock.monotonic() - this.#seenAt));
  }
}

import type { Clock, Timer } from "../clock.ts";

/** Calls back once, at the earliest of the times that it was asked for. */
export class EarliestTimer {
  readonly #clock: Clock;
  readonly #callback: () => void;
  #timer: Timer | undefined;
  #at = 0;

  constructor(clock: Clock, callback: () => void) {
    this.#clock = clock;
    this.#callback = callback;
  }

  after(milliseconds: number): void {
    const at = this.#clock.monotonic() + milliseconds;
    if (this.#timer !== undefined && this.#at <= at) return;
    this.#timer?.cancel();
    this.#at = at;
    this.#timer = this.#clock.setTimer(() => {
      this.#timer = undefined;
      this.#callback();
    }, milliseconds);
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}

import type { Clock, Timer } from "../clock.ts";
import type { Randomness } from "../randomness.ts";

/** The sleep of a loop that claims: it ends at a time, or when the loop is nudged. */
export class WakeTimer {
  readonly #clock: Clock;
  #wake: (() => void) | undefined;
  #nudged = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Ends the present sleep, or the next one if the loop is busy. Nudges in one turn of the event loop end one sleep. */
  nudge(): void {
    this.#nudged = true;
    this.#wake?.();
    this.#wake = undefined;
  }

  /** Sleeps until that monotonic time, or until a nudge. Always lets other work of the event loop run first. */
  async sleep(until: number): Promise<void> {
    if (this.#nudged || until <= this.#clock.monotonic()) {
      this.#nudged = false;
      await new Promise<void>((resolve) => this.#clock.defer(resolve));
      return;
    }
    let timer: Timer | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = () => this.#clock.defer(resolve);
      if (until !== Number.POSITIVE_INFINITY) timer = this.#clock.setTimer(resolve, until - this.#clock.monotonic());
    });
    timer?.cancel();
    this.#wake = undefined;
    this.#nudged = false;
  }
}

export const FIRST_BACKOFF_MS = 50;
const LONGEST_BACKOFF_MS = 5000;

/** Pauses that double from the first up to the longest, each shortened by a random part of up to half. */
export class Backoff {
  readonly #randomness: Randomness;
  readonly #firstMs: number;
  readonly #longestMs: number;
  #milliseconds = 0;

  constructor(
    randomness: Randomness,
    { firstMs = FIRST_BACKOFF_MS, longestMs = LONGEST_BACKOFF_MS }: { firstMs?: number; longestMs?: number } = {},
  ) {
    this.#randomness = randomness;
    this.#firstMs = firstMs;
    this.#longestMs = longestMs;
  }

  next(): number {
    this.#milliseconds = Math.min(Math.max(this.#milliseconds * 2, this.#firstMs), this.#longestMs);
    return (this.#milliseconds / 2) * (1 + this.#randomness.fraction());
  }

  reset(): void {
    this.#milliseconds = 0;
  }
}

import type { Randomness } from "../randomness.ts";

export const FIRST_BACKOFF_MS = 50;
const LONGEST_BACKOFF_MS = 5000;

/** Pauses that double, up to five seconds, each of them at least half as long as that. */
export class Backoff {
  readonly #randomness: Randomness;
  #milliseconds = 0;

  constructor(randomness: Randomness) {
    this.#randomness = randomness;
  }

  next(): number {
    this.#milliseconds = Math.min(Math.max(this.#milliseconds * 2, FIRST_BACKOFF_MS), LONGEST_BACKOFF_MS);
    return (this.#milliseconds / 2) * (1 + this.#randomness.fraction());
  }

  reset(): void {
    this.#milliseconds = 0;
  }
}

/** However fast handlers are, one place never stands for more than this many rows of a claim. */
const MOST_PER_PLACE = 10;
const SHORTEST_RUN_MS = 0.05;

/**
 * How many rows one place can work off while the database answers one claim. Handlers that take longer than a round trip make
 * it one: then a claim asks for as many rows as there are places free, and no more.
 */
export class Pace {
  #runMs = Number.POSITIVE_INFINITY;
  #claimMs = 0;

  get perPlace(): number {
    const rows = Math.floor(this.#claimMs / Math.max(this.#runMs, SHORTEST_RUN_MS));
    return Math.min(Math.max(rows, 1), MOST_PER_PLACE);
  }

  noteRun(milliseconds: number): void {
    this.#runMs = this.#runMs === Number.POSITIVE_INFINITY ? milliseconds : this.#runMs * 0.95 + milliseconds * 0.05;
  }

  noteClaim(milliseconds: number): void {
    this.#claimMs = this.#claimMs * 0.7 + milliseconds * 0.3;
  }

  /** It was wrong: start again with one. */
  reset(): void {
    this.#runMs = Number.POSITIVE_INFINITY;
  }
}

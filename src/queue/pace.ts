/** The most rows that a claim asks for per slot, however fast handlers are. */
const MOST_PER_SLOT = 10;
const SHORTEST_RUN_MS = 0.05;

/**
 * How many rows one slot can run while the database answers one claim. It is 1 if handlers take longer than a round trip: then
 * a claim asks for one row per free slot.
 */
export class Pace {
  #runMs = Number.POSITIVE_INFINITY;
  #claimMs = 0;

  get perSlot(): number {
    const rows = Math.floor(this.#claimMs / Math.max(this.#runMs, SHORTEST_RUN_MS));
    return Math.min(Math.max(rows, 1), MOST_PER_SLOT);
  }

  noteRun(milliseconds: number): void {
    this.#runMs = this.#runMs === Number.POSITIVE_INFINITY ? milliseconds : this.#runMs * 0.95 + milliseconds * 0.05;
  }

  noteClaim(milliseconds: number): void {
    this.#claimMs = this.#claimMs * 0.7 + milliseconds * 0.3;
  }

  /** The estimate was wrong: starts again with 1. */
  reset(): void {
    this.#runMs = Number.POSITIVE_INFINITY;
  }
}

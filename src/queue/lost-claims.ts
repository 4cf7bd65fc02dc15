import { type Clock, pause } from "../clock.ts";
import { isStoreClosed } from "../errors.ts";

/** What was asked of the database and never answered may still be done there: behind a lock, in a statement that is queued. */
const LONGEST_IN_DOUBT_MS = 300_000;
const FIRST_PAUSE_MS = 500;

/** Gives rows back that are known not to run here. Harmless if they aren't ours, or aren't there. Gives whether nothing can follow. */
export type GiveBack = () => Promise<boolean>;

/**
 * Claims that were never answered, by a worker that lives. The database may have leased rows to it that it doesn't know of, or may
 * do so later: these are given back, uncounted, because nothing of them has begun. Asked again and again while there is doubt, in
 * time for a lease not to run out.
 */
export class LostClaims {
  readonly #clock: Clock;
  readonly #longestPauseMs: number;
  readonly #stopped = new AbortController();
  /** Those that are in doubt. */
  readonly #open = new Set<GiveBack>();

  constructor(clock: Clock, leaseMs: number) {
    this.#clock = clock;
    this.#longestPauseMs = leaseMs / 3;
  }

  add(giveBack: GiveBack): void {
    if (this.#stopped.signal.aborted) return;
    this.#open.add(giveBack);
    void this.#follow(giveBack);
  }

  /** A last time, for those that are still in doubt. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(Array.from(this.#open, (giveBack) => giveBack().catch(() => {})));
    this.#open.clear();
  }

  async #follow(giveBack: GiveBack): Promise<void> {
    const { signal } = this.#stopped;
    const endAt = this.#clock.monotonic() + LONGEST_IN_DOUBT_MS;
    for (let delay = FIRST_PAUSE_MS; ; delay *= 2) {
      const answer = await giveBack().catch((error: unknown) => isStoreClosed(error) || null); // null: it is still away
      if (signal.aborted) return;
      if (answer === true || (answer === false && this.#clock.monotonic() > endAt)) break;
      await pause(this.#clock, Math.min(delay, this.#longestPauseMs), signal);
      if (signal.aborted) return;
    }
    this.#open.delete(giveBack);
  }
}

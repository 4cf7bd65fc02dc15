import { type Clock, pause } from "../clock.ts";
import { isStoreClosed } from "../errors.ts";
import type { WorkSource } from "./work.ts";

/** What was asked of the database and never answered may still be done there: behind a lock, in a statement that is queued. */
const LONGEST_IN_DOUBT_MS = 300_000;
const FIRST_PAUSE_MS = 500;

/** Gives rows back that are known not to run here. Harmless if they aren't ours, or aren't there. Gives whether nothing can follow. */
export type GiveBack = () => Promise<boolean>;

/** The tokens of claims of one source that were never answered, and when they are out of doubt by the monotonic clock. */
type Tokens = Map<string, number>;

/**
 * Claims that were never answered, by a worker that lives. The database may have leased rows to it that it doesn't know of, or may
 * do so later: these are given back, uncounted, because nothing of them has begun. Asked again and again while there is doubt, in
 * time for a lease not to run out; one statement asks for all tokens of a source.
 */
export class LostClaims {
  readonly #clock: Clock;
  readonly #longestPauseMs: number;
  readonly #stopped = new AbortController();
  /** Those that are in doubt. */
  readonly #open = new Set<GiveBack>();
  readonly #tokens = new Map<WorkSource, Tokens>();

  constructor(clock: Clock, leaseMs: number) {
    this.#clock = clock;
    this.#longestPauseMs = leaseMs / 3;
  }

  /** A claim with this token wasn't answered. */
  addClaim(source: WorkSource, lock: string): void {
    const known = this.#tokens.get(source);
    const tokens: Tokens = known ?? new Map();
    tokens.set(lock, this.#clock.monotonic() + LONGEST_IN_DOUBT_MS);
    if (known !== undefined) return;
    this.#tokens.set(source, tokens);
    this.add(() => this.#giveBack(source, tokens), Number.POSITIVE_INFINITY);
  }

  /** In vain for so long, it isn't asked any more. */
  add(giveBack: GiveBack, longestMs: number = LONGEST_IN_DOUBT_MS): void {
    if (this.#stopped.signal.aborted) return;
    this.#open.add(giveBack);
    void this.#follow(giveBack, this.#clock.monotonic() + longestMs);
  }

  /** A last time, for those that are still in doubt. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(Array.from(this.#open, (giveBack) => giveBack().catch(() => {})));
    this.#open.clear();
  }

  async #giveBack(source: WorkSource, tokens: Tokens): Promise<boolean> {
    await source.giveBack([...tokens.keys()]);
    const now = this.#clock.monotonic();
    for (const [lock, until] of tokens) if (now > until) tokens.delete(lock);
    if (tokens.size === 0) this.#tokens.delete(source);
    return tokens.size === 0;
  }

  async #follow(giveBack: GiveBack, endAt: number): Promise<void> {
    const { signal } = this.#stopped;
    for (let delay = FIRST_PAUSE_MS; ; delay *= 2) {
      const done = await giveBack().catch((error: unknown) => isStoreClosed(error) || null); // null: it is still away
      if (signal.aborted) return;
      if (done === true || (done === false && this.#clock.monotonic() > endAt)) break;
      await pause(this.#clock, Math.min(delay, this.#longestPauseMs), signal);
      if (signal.aborted) return;
    }
    this.#open.delete(giveBack);
  }
}

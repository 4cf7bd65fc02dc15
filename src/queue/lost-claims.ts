import { type Clock, pause } from "../clock.ts";
import { isStoreClosed } from "../errors.ts";
import type { WorkSource } from "./work.ts";

/** The database may still execute a statement whose answer was lost: it may wait behind a lock or in a queue. */
const LONGEST_IN_DOUBT_MS = 300_000;
const FIRST_PAUSE_MS = 500;

/**
 * Releases rows that don't run here. Harmless if another worker has them, or if they don't exist. Returns whether no more rows
 * can appear.
 */
export type GiveBack = () => Promise<boolean>;

/** The tokens of a source's unanswered claims, and the monotonic time until which each is in doubt. */
type Tokens = Map<string, number>;

/**
 * Unanswered claims of a running worker. The database may have leased rows to it without its knowledge, or may do so later.
 * These rows are released, uncounted, because none of them has begun. The request is repeated while there is doubt, before a
 * lease could run out; one statement covers all tokens of a source.
 */
export class LostClaims {
  readonly #clock: Clock;
  readonly #longestPauseMs: number;
  readonly #stopped = new AbortController();
  /** The requests that are in doubt. */
  readonly #open = new Set<GiveBack>();
  readonly #tokens = new Map<WorkSource, Tokens>();

  constructor(clock: Clock, leaseMs: number) {
    this.#clock = clock;
    this.#longestPauseMs = leaseMs / 3;
  }

  /** A claim with this token got no answer. */
  addClaim(source: WorkSource, lock: string): void {
    const known = this.#tokens.get(source);
    const tokens: Tokens = known ?? new Map();
    tokens.set(lock, this.#clock.monotonic() + LONGEST_IN_DOUBT_MS);
    if (known !== undefined) return;
    this.#tokens.set(source, tokens);
    this.add(() => this.#giveBack(source, tokens), Number.POSITIVE_INFINITY);
  }

  /** Repeats the request until it succeeds, at most for this long. */
  add(giveBack: GiveBack, longestMs: number = LONGEST_IN_DOUBT_MS): void {
    if (this.#stopped.signal.aborted) return;
    this.#open.add(giveBack);
    void this.#follow(giveBack, this.#clock.monotonic() + longestMs);
  }

  /** Stops, after one last request for each that is in doubt. */
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
      const done = await giveBack().catch((error: unknown) => isStoreClosed(error) || null); // null: the database is still unreachable
      if (signal.aborted) return;
      if (done === true || (done === false && this.#clock.monotonic() > endAt)) break;
      await pause(this.#clock, Math.min(delay, this.#longestPauseMs), signal);
      if (signal.aborted) return;
    }
    this.#open.delete(giveBack);
  }
}

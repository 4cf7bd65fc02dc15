import type { Clock } from "../../clock.ts";

/**
 * The database's time, as far as its answers and a clock that never jumps tell. An answer says what time it was at some moment
 * between the question and the answer, so what is known lies between two bounds: `now` is never ahead of the database, so that
 * what has come due here has come due there; `latest` is never behind it, so that what is counted from there isn't over too
 * early.
 */
export class DatabaseTime {
  readonly #clock: Clock;
  /** How far the database's time is ahead of the monotonic clock, at least and at most. */
  #least = Number.NEGATIVE_INFINITY;
  #most = Number.POSITIVE_INFINITY;
  #lastGiven = Number.NEGATIVE_INFINITY;

  /** `askedAt` is the monotonic time at which the question was sent. */
  constructor(clock: Clock, at: number, askedAt: number) {
    this.#clock = clock;
    this.observe(at, askedAt);
  }

  /** An answer that was just received says that it was this time. */
  observe(at: number, askedAt: number): void {
    const least = at - this.#clock.monotonic();
    const most = at - askedAt;
    if (least > this.#most || most < this.#least) {
      // The database's clock was set, or it is another server: what we knew before is worth nothing.
      this.#least = least;
      this.#most = most;
      this.#lastGiven = Number.NEGATIVE_INFINITY;
      return;
    }
    this.#least = Math.max(this.#least, least);
    this.#most = Math.min(this.#most, most);
  }

  now(): number {
    return Math.floor(this.#least + this.#clock.monotonic());
  }

  /** It never goes back: of two waits of the same length the first to begin is the first to end. */
  latest(): number {
    this.#lastGiven = Math.max(this.#lastGiven, Math.ceil(this.#most + this.#clock.monotonic()));
    return this.#lastGiven;
  }

  /** The deadline of a wait that begins now: by the database's time it isn't over earlier. */
  after(milliseconds: number): number {
    return milliseconds <= 0 ? this.now() : this.latest() + Math.ceil(milliseconds);
  }
}

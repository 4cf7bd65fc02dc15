import type { Clock } from "../clock.ts";

/** Longer than owners wait before they send again what the database hasn't taken. */
const HESITATION_MS = 6000;

/**
 * When a database can be used again, leases have run out whose owners are alive, and hold outcomes that they couldn't write. So
 * a loop that couldn't use its database takes nothing over until it could for a while: otherwise work that was done would be
 * done again.
 */
export class Hesitation {
  readonly #clock: Clock;
  #failed = false;
  /** By the monotonic clock. */
  #until = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The database couldn't be used. */
  begin(): void {
    this.#failed = true;
  }

  /** The database has answered. */
  answered(): void {
    if (!this.#failed) return;
    this.#failed = false;
    this.#until = this.#clock.monotonic() + HESITATION_MS;
  }

  get over(): boolean {
    return !this.#failed && this.#clock.monotonic() >= this.#until;
  }

  /** The monotonic time at which it will be over, if that is known and not past. */
  get endsAt(): number {
    return this.#failed || this.over ? Number.POSITIVE_INFINITY : this.#until;
  }
}

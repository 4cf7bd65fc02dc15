import type { Clock } from "../../../clock.ts";
import { StoreError } from "../../../errors.ts";

/** How long a unit of work waits for others to end. */
const PATIENCE_MS = 30_000;

/**
 * Limits how many units of work run at a time. They run users' code, which may wait for calls that need another connection of
 * the pool (creating an instance, triggering a hook, a query), so they must never take all connections. The others wait in
 * order.
 */
export class TransactionSlots {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(clock: Clock, most: number) {
    this.#clock = clock;
    this.#most = most;
  }

  async run<Result>(body: () => Promise<Result>): Promise<Result> {
    if (this.#taken < this.#most) this.#taken++;
    else await this.#wait();
    try {
      return await body();
    } finally {
      this.#leave();
    }
  }

  /** Hands the slot to the next in order. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken--;
    else next();
  }

  #wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.#clock.setTimer(() => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        reject(this.#exhausted());
      }, PATIENCE_MS);
      const begin = () => {
        timer.cancel();
        resolve();
      };
      this.#waiting.push(begin);
    });
  }

  #exhausted(): StoreError {
    return new StoreError(
      "transaction.no_connection",
      `The unit of work couldn't begin, because ${this.#most} others, as many as this pool has connections for, ran for ` +
        `${PATIENCE_MS / 1000} seconds. Nothing was written. Make units of work shorter, don't wait for one inside another, or give the ` +
        "pool more connections (the option `connections`, or `max` of your own pool).",
      { transient: true },
    );
  }
}

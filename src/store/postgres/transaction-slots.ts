import type { Clock } from "../../clock.ts";
import { StoreError } from "../../errors.ts";

/** For how long a unit of work waits for others to end. */
const PATIENCE_MS = 30_000;

/**
 * Units of work run users' code, and may wait in it for what needs another connection of the pool: an instance that is created, a
 * hook that is triggered, a query. So they never have all of them, and those that find none wait in order.
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

  /** The slot goes from one to the next. */
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
      `${this.#most} units of work were under way for ${PATIENCE_MS / 1000} seconds, which is as many as this pool has connections for, so ` +
        "another could not begin. Nothing was written. Make them shorter, don't wait for one inside of another, or give the pool more " +
        "connections (the option `connections`, or `max` of your own pool).",
      { transient: true },
    );
  }
}

import type { SeededRandomness } from "./random.ts";

/**
 * What can go wrong with one call of the database:
 *
 * - `unavailable`: it fails and does nothing.
 * - `refused`: the same, and the database says that asking again won't help.
 * - `broken`: it fails in the middle of its statements, or at the commit.
 * - `lost`: it is done, but its caller is told that the connection broke.
 * - `late`, `slow`: the call or its answer takes long, possibly longer than a lease.
 * - `crash-before`, `crash-middle`, `crash-after`: the process ends as the call arrives, in the middle of it, or before the
 *   answer arrives.
 */
export type Fault =
  | "none"
  | "unavailable"
  | "refused"
  | "broken"
  | "lost"
  | "late"
  | "slow"
  | "crash-before"
  | "crash-middle"
  | "crash-after";

const WEIGHTS: Record<Exclude<Fault, "none">, number> = {
  unavailable: 3,
  refused: 1,
  broken: 3,
  lost: 6,
  late: 2,
  slow: 2,
  "crash-before": 1,
  "crash-middle": 1,
  "crash-after": 2,
};

/** How bad this world is. */
export class Faults {
  /** How often a call goes wrong. Zero once the faults have stopped. */
  rate: number;
  readonly #random: SeededRandomness;

  constructor(random: SeededRandomness, rate: number) {
    this.#random = random;
    this.rate = rate;
  }

  draw(): Fault {
    return this.#random.chance(this.rate) ? this.#random.weighted(WEIGHTS) : "none";
  }

  /** Milliseconds on the way: mostly few, at times none, rarely many. */
  latency(): number {
    if (this.#random.chance(0.3)) return 0;
    return this.#random.chance(0.9) ? this.#random.integer(1, 5) : this.#random.integer(5, 200);
  }

  slowness(): number {
    return this.#random.integer(500, 40_000);
  }

  /** How many statements of a call succeed before it breaks. */
  statements(): number {
    return this.#random.integer(0, 3);
  }
}

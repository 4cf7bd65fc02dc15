import type { SeededRandomness } from "../random.ts";
import type { SimulationOptions } from "../simulation-options.ts";

/**
 * What can go wrong with one call of the database:
 *
 * - `unavailable`: it fails and does nothing. - `refused`: the same, and the database says that a retry won't help.
 * - `broken`: it fails in the middle of its statements, or at the commit.
 * - `lost`: it is done, but its caller sees a broken connection.
 * - `late`, `slow`: the call or its answer takes long, possibly longer than a lease.
 * - `stall`: the process stands still while it waits for the answer, possibly longer than a lease.
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
  | "stall"
  | "crash-before"
  | "crash-middle"
  | "crash-after";

const KINDS: Record<Exclude<Fault, "none">, number> = {
  unavailable: 3,
  refused: 1,
  broken: 3,
  lost: 6,
  late: 4,
  slow: 2,
  stall: 5,
  "crash-before": 1,
  "crash-middle": 1,
  "crash-after": 2,
};

/** How bad this world is. */
export class Faults {
  /** How often a call goes wrong. Zero once the faults have stopped. */
  rate: number;
  /** How many calls were made. */
  calls = 0;
  readonly #random: SeededRandomness;
  readonly #kinds: typeof KINDS;
  readonly #certain: SimulationOptions["faultAt"];

  constructor(random: SeededRandomness, rate: number, certain: SimulationOptions["faultAt"]) {
    this.#random = random;
    this.#certain = certain;
    this.rate = rate;
    this.#kinds = random.emphasize(KINDS);
  }

  draw(): Fault {
    if (++this.calls === this.#certain?.call) return this.#certain.fault;
    return this.#random.chance(this.rate) ? this.#random.weighted(this.#kinds) : "none";
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

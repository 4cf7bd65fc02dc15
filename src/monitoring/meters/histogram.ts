/** A histogram at one moment, with cumulative buckets. */
export interface HistogramSnapshot {
  readonly count: number;
  /** Of all values, in the histogram's unit. */
  readonly sum: number;
  /** How many values are at most `upTo`. Values above the last bucket are in `count` alone. */
  readonly buckets: readonly { readonly upTo: number; readonly count: number }[];
}

/** From a millisecond to a quarter of an hour. */
export const SHORT_SECONDS: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900,
];

/** From ten milliseconds to a month: workflows sleep. */
export const LONG_SECONDS: readonly number[] = [
  0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 1800, 3600, 21_600, 86_400, 604_800, 2_592_000,
];

/** How many items are written together. */
export const SIZES: readonly number[] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

/** Counts values by size. It allocates nothing when a value is added. */
export class Histogram {
  readonly #bounds: readonly number[];
  /** One more than there are bounds: the last has what is above all of them. */
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  /**
   * Clocks may differ: a negative value counts as zero. So does one that isn't a number, or the sum wouldn't be one any more.
   */
  add(value: number): void {
    const counted = Number.isNaN(value) ? 0 : Math.max(value, 0);
    let index = 0;
    while (index < this.#bounds.length && counted > (this.#bounds[index] as number)) index++;
    (this.#counts[index] as number)++;
    this.#sum += counted;
  }

  snapshot(): HistogramSnapshot {
    let count = 0;
    const buckets = this.#bounds.map((upTo, index) => {
      count += this.#counts[index] as number;
      return { upTo, count };
    });
    return { count: count + (this.#counts[this.#bounds.length] as number), sum: this.#sum, buckets };
  }
}

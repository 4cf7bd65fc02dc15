/** How much is measured. */
export interface Scale {
  readonly finished: number;
  readonly sleeping: number;
  readonly workflows: number;
  readonly rounds: number;
  /** How often each list is read. */
  readonly reads: number;
}

export const FULL: Scale = { finished: 1_000_000, sleeping: 100_000, workflows: 5000, rounds: 5, reads: 9 };

/** Good enough to see that everything works. */
export const SHORT: Scale = { finished: 3000, sleeping: 300, workflows: 100, rounds: 1, reads: 1 };

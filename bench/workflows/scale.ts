/** How much is measured. */
export interface Scale {
  /** Each figure is the median of so many rounds, each on a fresh database. */
  readonly rounds: number;
  readonly samples: number;
  readonly workflows: number;
  readonly steps: number;
}

export const FULL: Scale = { rounds: 3, samples: 200, workflows: 10_000, steps: 1000 };

/** Good enough to see that everything works, and roughly how fast. */
export const SHORT: Scale = { rounds: 1, samples: 5, workflows: 200, steps: 20 };

/** How much is measured. */
export interface Scale {
  /** Each figure is the median of so many rounds, each on a fresh database. */
  readonly rounds: number;
  readonly enqueueMilliseconds: number;
  readonly drainHooks: number;
  readonly latencySamples: number;
  readonly idleSettleMilliseconds: number;
  readonly idleWindowMilliseconds: number;
}

export const FULL: Scale = {
  rounds: 3,
  enqueueMilliseconds: 2000,
  drainHooks: 20_000,
  latencySamples: 200,
  idleSettleMilliseconds: 5000,
  idleWindowMilliseconds: 60_000,
};

/** Good enough to see that everything works, and roughly how fast. */
export const SHORT: Scale = {
  rounds: 1,
  enqueueMilliseconds: 500,
  drainHooks: 2000,
  latencySamples: 40,
  idleSettleMilliseconds: 2000,
  idleWindowMilliseconds: 10_000,
};

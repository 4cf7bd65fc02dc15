/**
 * Whether a higher or a lower figure is better. Ratios are always ours ÷ theirs, so for "lower" a ratio under 1 means that we
 * are ahead.
 */
export type Direction = "higher" | "lower";

/**
 * One line of the report. `null` is a contender that failed; a contender that doesn't take part in the work is absent, and so
 * is a floor where there is none. Ours is absent where the peers' settings are tried out.
 */
export interface Result {
  readonly work: string;
  readonly engine: string;
  readonly ours?: number | null;
  readonly peers: Readonly<Record<string, number | null>>;
  readonly floor?: number | null;
  /** The lowest and the highest round of each contender; `ours` and `floor` are named so. Absent for those that failed. */
  readonly spreads?: Readonly<Record<string, readonly [lowest: number, highest: number]>>;
  readonly unit: string;
  readonly better: Direction;
}

/** The best figure among the peers that have one. */
export function bestPeer(result: Result): number | null {
  const figures = Object.values(result.peers).filter((figure) => figure !== null);
  if (figures.length === 0) return null;
  return result.better === "higher" ? Math.max(...figures) : Math.min(...figures);
}

/** Ours ÷ theirs, or `null` where one is missing or theirs is zero. */
export function ratio(ours: number | null | undefined, theirs: number | null | undefined): number | null {
  return typeof ours !== "number" || typeof theirs !== "number" || theirs === 0 ? null : ours / theirs;
}

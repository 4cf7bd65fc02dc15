/** How many lines one admission serves. */
export const MOST_LINES = 20;
/** How far an admission reads a line for a member that may start, past members whose rates are used up. */
export const LINE_DEPTH = 1000;
/** How often an admission reads a line, each time without another rate that is used up. */
export const MOST_PASSES = 10;
/**
 * The delay when a due member stays in line, though no limit holds it up. It has a version that this process lacks, and another
 * process may have. Or another transaction has locked it, which makes the line due; this is for the case that it fails.
 */
export const LEFT_DELAY_MS = 1000;

/** Something that may start, if its rate allows it. */
export interface Candidate {
  readonly ref: string;
  readonly rateKey: string | null;
}

/** Those that may start, in order, as long as there are starts left of their rates. Takes those. */
export function chooseStarts(candidates: readonly Candidate[], left: Map<string, number>): string[] {
  const chosen: string[] = [];
  for (const { ref, rateKey } of candidates) {
    const starts = rateKey === null ? 1 : (left.get(rateKey) ?? 0);
    if (starts <= 0) continue;
    if (rateKey !== null) left.set(rateKey, starts - 1);
    chosen.push(ref);
  }
  return chosen;
}

export function rateKeysOf(candidates: readonly Candidate[]): string[] {
  return [...new Set(candidates.flatMap(({ rateKey }) => rateKey ?? []))].sort();
}

/** How a look at a line went. */
export interface LineLook {
  /** Whether all slots are taken now. */
  readonly full: boolean;
  /** Whether it got all that it was allowed in this look, so that there may be more to admit. */
  readonly more: boolean;
  /** When something can start that can't now; null if nothing is held up by a rate. */
  readonly startsAt: number | null;
}

/** The state of a line's row after a worker has admitted from it. */
export interface LineState {
  readonly blocked: boolean;
  /** When to look again; null: when the first of those that sleep in it is due. */
  readonly until: number | null;
  /** Whether it is to be looked at when the first of those that sleep in it is due. */
  readonly wakes: boolean;
}

export function settleLine({ full, more, startsAt }: LineLook, alone: boolean, now: number): LineState {
  if (full) return { blocked: true, until: null, wakes: false };
  if (more) return { blocked: false, until: now, wakes: false };
  return { blocked: alone && startsAt !== null, until: startsAt, wakes: true };
}

/** Each line's share of a worker's free slots: equal for all, and at least one. */
export function shareOf(room: number, lines: number): number {
  return Math.max(Math.floor(room / Math.max(lines, 1)), 1);
}

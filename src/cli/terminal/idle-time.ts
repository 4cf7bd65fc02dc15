interface Interval {
  readonly from: number;
  readonly to: number;
}

interface Stretch extends Interval {
  /** Where it begins, and its share of the whole width. */
  readonly start: number;
  readonly width: number;
}

/** The share of all busy time that an idle stretch may take, and a length that it may have in any case. */
const IDLE_SHARE = 0.15;
const LEAST_MS = 50;
/** Shorter stretches are true to scale. */
const SHORTEST_MS = 1000;

/** Places of times from 0 to 1. Time in which nothing runs is shown short, or days of sleep would hide milliseconds of work. */
export class ShortenedTime {
  /** Whether it isn't true to scale. */
  readonly shortened: boolean;
  readonly #stretches: readonly Stretch[];

  constructor(busy: readonly Interval[], { from, to }: Interval) {
    const merged = merge(busy);
    const total = merged.reduce((sum, one) => sum + one.to - one.from, 0);
    const most = Math.max(total * IDLE_SHARE, LEAST_MS);
    const ends = [...new Set([from, ...merged.flatMap((one) => [one.from, one.to]), to])].sort((a, b) => a - b);
    const pieces = ends.slice(1).map((end, index) => {
      const piece = { from: ends[index] as number, to: end };
      const length = end - piece.from;
      const idle = !merged.some((one) => one.from <= piece.from && end <= one.to);
      return { ...piece, weight: idle && length > Math.max(most, SHORTEST_MS) ? most : length };
    });
    const whole = pieces.reduce((sum, { weight }) => sum + weight, 0) || 1;
    let start = 0;
    this.#stretches = pieces.map(({ weight, ...piece }) => {
      const stretch = { ...piece, start, width: weight / whole };
      start += stretch.width;
      return stretch;
    });
    this.shortened = pieces.some(({ weight, ...piece }) => weight < piece.to - piece.from);
  }

  place(time: number): number {
    const stretch = this.#stretches.find(({ to }) => time <= to);
    if (stretch === undefined) return this.#stretches.length === 0 ? 0 : 1;
    const share = (time - stretch.from) / (stretch.to - stretch.from);
    return stretch.start + Math.max(0, share) * stretch.width;
  }
}

function merge(intervals: readonly Interval[]): Interval[] {
  const merged: { from: number; to: number }[] = [];
  for (const { from, to } of [...intervals].sort((one, other) => one.from - other.from)) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else merged.push({ from, to });
  }
  return merged;
}

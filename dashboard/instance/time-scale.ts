import type { Step } from "./steps.ts";

/** A stretch of time, and the share of the width that it gets. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly start: number;
  readonly width: number;
  /** Whether it is shorter than it should be, because nothing happened in it. */
  readonly collapsed: boolean;
}

/** The share of all busy time that an idle stretch may take. */
const IDLE_SHARE = 0.07;
const SHORTEST_IDLE_MS = 1000;

/**
 * Maps times to places from 0 to 1. Idle stretches can be collapsed, so that milliseconds of work show beside days of sleep.
 */
export class TimeScale {
  readonly stretches: readonly Stretch[];

  constructor(steps: readonly Pick<Step, "segments">[], from: number, to: number, collapse: boolean) {
    const end = Math.max(to, from + 1);
    const busy = collapse ? busyTimes(steps, from, end) : [{ from, to: end }];
    const total = busy.reduce((sum, one) => sum + one.to - one.from, 0);
    const longest = Math.max(total * IDLE_SHARE, SHORTEST_IDLE_MS / 50);
    const pieces: { from: number; to: number; weight: number; collapsed: boolean }[] = [];
    let at = from;
    for (const one of [...busy, { from: end, to: end }]) {
      const idle = one.from - at;
      const collapsed = idle > Math.max(longest, SHORTEST_IDLE_MS);
      if (idle > 0) pieces.push({ from: at, to: one.from, weight: collapsed ? longest : idle, collapsed });
      if (one.to > one.from) pieces.push({ from: one.from, to: one.to, weight: one.to - one.from, collapsed: false });
      at = Math.max(at, one.to);
    }
    const whole = pieces.reduce((sum, { weight }) => sum + weight, 0) || 1;
    let start = 0;
    this.stretches = pieces.map(({ weight, ...piece }) => {
      const stretch = { ...piece, start, width: weight / whole };
      start += stretch.width;
      return stretch;
    });
  }

  place(time: number): number {
    const stretch = this.stretches.find(({ to }) => time <= to) ?? this.stretches.at(-1);
    if (stretch === undefined) return 0;
    const share = (time - stretch.from) / (stretch.to - stretch.from || 1);
    return stretch.start + Math.min(Math.max(share, 0), 1) * stretch.width;
  }

  timeAt(place: number): number {
    const stretch = this.stretches.find(({ start, width }) => place <= start + width) ?? this.stretches.at(-1);
    if (stretch === undefined) return 0;
    return stretch.from + ((place - stretch.start) / (stretch.width || 1)) * (stretch.to - stretch.from);
  }
}

/** When something ran, in order and without overlaps. */
function busyTimes(steps: readonly Pick<Step, "segments">[], from: number, to: number) {
  const all = steps
    .flatMap(({ segments }) => segments.filter(({ kind }) => kind === "work" || kind === "rollback"))
    .map((segment) => ({ from: Math.max(segment.from, from), to: Math.min(segment.to, to) }))
    .filter((one) => one.to >= one.from)
    .sort((left, right) => left.from - right.from);
  const merged: { from: number; to: number }[] = [];
  for (const one of all) {
    const last = merged.at(-1);
    if (last !== undefined && one.from <= last.to) last.to = Math.max(last.to, one.to);
    else merged.push({ ...one });
  }
  return merged;
}

import { setSearch } from "../shell/router.tsx";

/** The part of a waterfall that is shown: two shares of its whole width. */
export interface Zoom {
  readonly from: number;
  readonly to: number;
}

/** Narrower, nothing could be told apart. */
export const NARROWEST = 0.0005;

export const ALL: Zoom = { from: 0, to: 1 };

/** The zoom is a part of the URL: two shares of the whole width. */
export function readZoom(text: string | null): Zoom {
  const [from = Number.NaN, to = Number.NaN] = (text ?? "").split("-").map(Number);
  return from >= 0 && to <= 1 && to > from ? { from, to } : ALL;
}

export function setZoom({ from, to }: Zoom): void {
  const rounded = [from, to].map((share) => share.toFixed(5).replace(/\.?0+$/, ""));
  setSearch({ zoom: from <= 0 && to >= 1 ? null : rounded.join("-") }, { replace: true });
}

export function zoomed({ from, to }: Zoom, factor: number): Zoom {
  const width = Math.min(Math.max((to - from) * factor, NARROWEST), 1);
  return within((from + to) / 2 - width / 2, width);
}

export function moved({ from, to }: Zoom, share: number): Zoom {
  return within(from + (to - from) * share, to - from);
}

export function within(from: number, width: number): Zoom {
  if (width >= 1) return ALL;
  const start = Math.min(Math.max(from, 0), 1 - width);
  return { from: start, to: start + width };
}

/** A place in the zoomed view, in percent. */
export function toPercent(place: number, { from, to }: Zoom): number {
  return ((place - from) / (to - from)) * 100;
}

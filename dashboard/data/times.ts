import { signal } from "@preact/signals";
import type { Figure, InstanceCounts } from "./types.ts";

/** The viewer's clock, for relative times. */
export const now = signal(Date.now());

const UNITS = [
  ["y", 365 * 86_400_000],
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1000],
] as const;

/** A length of time in its two largest units: "2 h 5 min", "1.25 s", "40 ms". */
export function duration(ms: number): string {
  const length = Math.abs(ms);
  if (length < 1000) return `${Math.round(length)} ms`;
  if (length < 10_000) return `${Math.round(length / 10) / 100} s`;
  const index = UNITS.findIndex(([, unit]) => length >= unit);
  const [name, unit] = UNITS[index] as (typeof UNITS)[number];
  const whole = Math.floor(length / unit);
  const next = UNITS[index + 1];
  if (next === undefined) return `${whole} ${name}`;
  const rest = Math.floor((length - whole * unit) / next[1]);
  return rest === 0 ? `${whole} ${name}` : `${whole} ${name} ${rest} ${next[0]}`;
}

/** "5 min ago", "in 2 h". */
export function relative(time: number, to: number): string {
  const ms = time - to;
  if (Math.abs(ms) < 2000) return "now";
  return ms < 0 ? `${coarse(-ms)} ago` : `in ${coarse(ms)}`;
}

/** In the largest unit, but days only if there are two: a day may be almost two. */
function coarse(ms: number): string {
  const [name, unit] = UNITS.find(([unit, length]) => ms >= (unit === "d" ? 2 : 1) * length) ?? ["s", 1000];
  return `${Math.floor(ms / unit)} ${name}`;
}

const FORMAT = new Intl.DateTimeFormat(undefined, {
  year: "numeric",
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
  timeZoneName: "short",
});

const KEY = "perdure.times";

/** Whether lists show times of day instead of how long ago something was. */
export const exact = signal(readExact());

export function toggleExact(): void {
  exact.value = !exact.value;
  try {
    localStorage.setItem(KEY, exact.value ? "exact" : "relative");
  } catch {
    // a browser without storage forgets the choice
  }
}

function readExact(): boolean {
  try {
    return localStorage.getItem(KEY) === "exact";
  } catch {
    return false;
  }
}

const DAY_FORMAT = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const CLOCK_FORMAT = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** The time of day, with the date unless that is today's. */
export function short(time: number, to: number): string {
  const clock = CLOCK_FORMAT.format(time);
  const today = new Date(time).toDateString() === new Date(to).toDateString();
  return today ? clock : `${DAY_FORMAT.format(time)}, ${clock}`;
}

/** In the viewer's own time zone. */
export function absolute(time: number): string {
  return FORMAT.format(time);
}

const COUNT = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** All digits, in groups. */
export function count(number: number): string {
  return COUNT.format(number);
}

/** The number of instances in a status; "10,000+" where there are more than were counted. */
export function figure(counts: InstanceCounts | undefined, name: Figure): string {
  return `${count(counts?.[name] ?? 0)}${counts?.atLeast.includes(name) ? "+" : ""}`;
}

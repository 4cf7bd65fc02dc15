import { InvalidInputError } from "./errors.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const UNITS = {
  millisecond: 1,
  second: SECOND,
  minute: MINUTE,
  hour: HOUR,
  day: DAY,
  week: 7 * DAY,
  month: 30 * DAY,
  year: 365.25 * DAY,
} as const;

/** Short names. A month has none: `m` is a minute. */
const ABBREVIATIONS = {
  ms: "millisecond",
  s: "second",
  sec: "second",
  secs: "second",
  m: "minute",
  min: "minute",
  mins: "minute",
  h: "hour",
  hr: "hour",
  hrs: "hour",
  d: "day",
  w: "week",
  y: "year",
} as const satisfies Record<string, DurationUnit>;

export type DurationUnit = keyof typeof UNITS;
type UnitName = DurationUnit | `${DurationUnit}s` | keyof typeof ABBREVIATIONS;

/**
 * Milliseconds, or a text such as "10 seconds", "1 hour", "1.5 days", "5 min", "30s" or "1h". A month is 30 days, a year
 * 365.25.
 */
export type Duration = number | `${number} ${UnitName}` | `${number}${UnitName}`;

const PATTERN = /^\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)\s*([a-z]+)\s*$/i;

/**
 * Returns whole milliseconds, rounded to the nearest. `label` names the duration in errors.
 *
 * @example parseDuration("1.5 hours", "timeout") // 5_400_000
 */
export function parseDuration(value: number | string, label: string = "duration"): number {
  const milliseconds = typeof value === "string" ? parseText(value, label) : value;
  if (typeof milliseconds !== "number") throw invalid(label, milliseconds, "it is neither a number nor a text");
  if (Number.isNaN(milliseconds)) throw invalid(label, value, "it isn't a number");
  if (milliseconds < 0) throw invalid(label, value, "it is negative");
  if (milliseconds > Number.MAX_SAFE_INTEGER)
    throw invalid(label, value, "it is longer than can be counted in milliseconds");
  return Math.round(milliseconds) + 0; // never -0
}

function parseText(text: string, label: string): number {
  const [, amount, unit] = PATTERN.exec(text) ?? [];
  if (amount === undefined || unit === undefined) throw invalid(label, text, "it isn't a number and a unit");
  const name = unitOf(unit);
  if (name === undefined) throw invalid(label, text, `the unit "${unit}" isn't known`);
  return Number(amount) * UNITS[name];
}

function unitOf(text: string): DurationUnit | undefined {
  if (Object.hasOwn(ABBREVIATIONS, text)) return ABBREVIATIONS[text as keyof typeof ABBREVIATIONS];
  const name = text.replace(/s$/, "");
  return Object.hasOwn(UNITS, name) ? (name as DurationUnit) : undefined;
}

function invalid(label: string, value: unknown, why: string): InvalidInputError {
  const shown =
    typeof value === "string" ? quote(value) : typeof value === "number" ? String(value) : describeOther(value);
  return new InvalidInputError(
    "duration.invalid",
    `${label} is ${shown}, which isn't a duration: ${why}. Give milliseconds as a number, or a text such as "10 seconds" or "10s" ` +
      `with one of the units ${Object.keys(UNITS).join(", ")}, or ${Object.keys(ABBREVIATIONS).join(", ")}.`,
  );
}

function describeOther(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function quote(text: string): string {
  return JSON.stringify(text.length > 50 ? `${text.slice(0, 50)}…` : text);
}

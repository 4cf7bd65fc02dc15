const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1000],
] as const;

/** A span of time in its two largest units: `2 h 5 min`. */
export function showSpan(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  const first = UNITS.findIndex(([, size]) => ms >= size);
  const [name, size] = UNITS[first] as (typeof UNITS)[number];
  const count = Math.floor(ms / size);
  const next = UNITS[first + 1];
  if (next === undefined) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const rest = Math.floor((ms - count * size) / next[1]);
  return rest === 0 ? `${count} ${name}` : `${count} ${name} ${rest} ${next[0]}`;
}

/** Relative to now: `5 min ago`, `in 2 h`. */
export function showWhen(time: string | Date | null | undefined, now = Date.now()): string {
  if (time === null || time === undefined) return "-";
  const at = new Date(time).getTime();
  const ms = at - now;
  if (Math.abs(ms) < 1000) return "now";
  return ms < 0 ? `${showSpan(-ms)} ago` : `in ${showSpan(ms)}`;
}

/** With the date, in the reader's time zone: `2026-01-31 12:00:00`. */
export function showTime(time: string | Date | null | undefined): string {
  if (time === null || time === undefined) return "-";
  const at = new Date(time);
  const part = (value: number, length = 2) => String(value).padStart(length, "0");
  const date = `${at.getFullYear()}-${part(at.getMonth() + 1)}-${part(at.getDate())}`;
  return `${date} ${showClock(at)}`;
}

const ISO = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/** A sentence of the server, with its times in the reader's time zone. */
export function showTimesIn(sentence: string, now = Date.now()): string {
  return sentence.replaceAll(ISO, (time) => `${showTime(time)} (${showWhen(time, now)})`);
}

export function showClock(at: Date): string {
  const part = (value: number) => String(value).padStart(2, "0");
  return `${part(at.getHours())}:${part(at.getMinutes())}:${part(at.getSeconds())}`;
}

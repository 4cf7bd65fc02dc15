/** Drivers give 64-bit integers as text, because they may not fit a number. Ours are milliseconds and counts: they fit. */
export function toNumber(value: unknown): number {
  return Number(value);
}

export function toNumberOrNull(value: unknown): number | null {
  return value === null ? null : Number(value);
}

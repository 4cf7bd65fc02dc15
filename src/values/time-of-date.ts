/** The time of a date, whichever realm made it; NaN if it is invalid, undefined if it is no date at all. */
export function timeOfDate(value: unknown): number | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  try {
    return Date.prototype.getTime.call(value);
  } catch {
    return undefined;
  }
}

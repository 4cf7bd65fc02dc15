/** The value below which `fraction` of the values lie, by the nearest rank. */
export function percentile(values: readonly number[], fraction: number): number {
  if (values.length === 0) throw new RangeError("a percentile needs at least one value");
  const sorted = values.toSorted((left, right) => left - right);
  const rank = Math.max(1, Math.ceil(fraction * sorted.length));
  return sorted[rank - 1] as number;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

const LONGEST_ARRAY = 2 ** 32 - 1;

export function hasHoles(array: readonly unknown[]): boolean {
  for (let index = 0; index < array.length; index += 1) if (!Object.hasOwn(array, index)) return true;
  return false;
}

export function isArrayIndex(key: string): boolean {
  const index = Number(key) >>> 0;
  return String(index) === key && index < LONGEST_ARRAY;
}

export function isArrayLength(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= LONGEST_ARRAY;
}

/**
 * Memory follows the number of elements, not the length, whatever a stored text says: engines turn an array of the greatest
 * length into a table of its elements, and it stays one when shortened.
 */
export function sparseArray(length: number, elements: Iterable<readonly [string, unknown]>): unknown[] {
  const array: unknown[] = [];
  array.length = LONGEST_ARRAY;
  array.length = length;
  for (const [key, value] of elements) array[Number(key)] = value;
  return array;
}

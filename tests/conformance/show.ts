/** A value as JSON that tells what isn't: how two engines give it back can be compared. */
export function show(value: unknown): unknown {
  if (value === undefined) return "(undefined)";
  if (typeof value === "bigint") return `(bigint ${value})`;
  if (typeof value === "number" && (!Number.isFinite(value) || Object.is(value, -0)))
    return `(number ${Object.is(value, -0) ? "-0" : value})`;
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Date) return `(Date ${value.getTime()})`;
  if (value instanceof RegExp) return `(RegExp ${value})`;
  if (value instanceof Error) return `(${value.name}: ${value.message})`;
  if (value instanceof Map) return { "(Map)": [...value].map(show) };
  if (value instanceof Set) return { "(Set)": [...value].map(show) };
  if (ArrayBuffer.isView(value)) return { [`(${value.constructor.name})`]: [...(value as Uint8Array)] };
  if (value instanceof ArrayBuffer) return { "(ArrayBuffer)": [...new Uint8Array(value)] };
  if (Array.isArray(value)) return value.map(show);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, show(one)]));
}

/** Stands for what JSON can't say, in calls to another process. */
export const SPECIAL = "(special)";

/** Values that every engine should give back as they are. */
export const special = () => ({
  date: new Date(5),
  map: new Map<string, unknown>([["a", { deep: new Set([1, 2]) }]]),
  big: 2n ** 70n,
  pattern: /a+/gi,
  bytes: new Uint8Array([1, 2, 3]),
  missing: undefined,
  zero: -0,
  number: Number.NaN,
  failure: new RangeError("kept"),
});

/** Puts them where they are meant to be. */
export function withSpecial<Value>(value: Value): Value {
  if (value === SPECIAL) return special() as Value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withSpecial) as Value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withSpecial(one)])) as Value;
}

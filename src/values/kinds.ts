/**
 * The kind of a value, whichever realm made it. `instanceof` fails for values of another realm (node:vm, and so jest) and lies
 * for objects made with Object.create, so built-ins are known by their internal slots, and "not a subclass" by the length of
 * the prototype chain.
 */
const slotReaders: ReadonlyMap<string, (value: object) => unknown> = new Map([
  ["Date", (value: object) => Date.prototype.getTime.call(value)],
  ["RegExp", (value: object) => getter(RegExp.prototype, "source").call(value)],
  ["Map", (value: object) => getter(Map.prototype, "size").call(value)],
  ["Set", (value: object) => getter(Set.prototype, "size").call(value)],
  ["ArrayBuffer", (value: object) => getter(ArrayBuffer.prototype, "byteLength").call(value)],
]);

/** A built-in that is no subclass, by name; undefined for everything else. */
export function builtInKind(value: object): string | undefined {
  const kind = Object.prototype.toString.call(value).slice("[object ".length, -1);
  const readSlot = slotReaders.get(kind);
  if (readSlot === undefined || prototypeCount(value) !== 2) return undefined;
  try {
    readSlot(value);
    return kind;
  } catch {
    return undefined; // something else that calls itself by this name
  }
}

export function isPlainObject(value: object): boolean {
  const prototype: object | null = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return true;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "isPrototypeOf");
}

export function isPlainArray(value: object): value is unknown[] {
  return Array.isArray(value) && (Object.getPrototypeOf(value) === Array.prototype || prototypeCount(value) === 2);
}

export function isError(value: unknown): value is Error {
  return value instanceof Error || Object.prototype.toString.call(value) === "[object Error]";
}

/** How many prototypes an object has, up to `Object.prototype`. */
export function prototypeCount(value: object): number {
  let count = 0;
  for (let next = Object.getPrototypeOf(value); next !== null; next = Object.getPrototypeOf(next)) count += 1;
  return count;
}

/** A kind in words, to follow "is": "a function", "an instance of Foo". Never runs a user's code, except a proxy's. */
export function describeKind(value: unknown): string {
  if (typeof value === "function") return "a function";
  if (typeof value !== "object") return `a ${typeof value}`;
  if (value === null) return "null";
  const name = classNameOf(value);
  return name === undefined ? "an object with a prototype of its own" : `an instance of ${name}`;
}

function classNameOf(value: object): string | undefined {
  const prototype: object | null = Object.getPrototypeOf(value);
  if (prototype === null) return undefined;
  const name = constructorName(prototype) ?? Object.getOwnPropertyDescriptor(prototype, Symbol.toStringTag)?.value;
  return typeof name === "string" && name !== "" ? name : undefined;
}

/** The name of the class that a prototype belongs to. */
export function constructorName(prototype: object): string | undefined {
  const owner: unknown = Object.getOwnPropertyDescriptor(prototype, "constructor")?.value;
  if (typeof owner !== "function") return undefined;
  const name: unknown = Object.getOwnPropertyDescriptor(owner, "name")?.value;
  return typeof name === "string" && name !== "" ? name : undefined;
}

export function getter(prototype: object, key: PropertyKey): (this: unknown) => unknown {
  const get = Object.getOwnPropertyDescriptor(prototype, key)?.get;
  if (get === undefined) throw new TypeError(`This runtime has no getter ${String(key)}.`);
  return get;
}

/** The time of a date, whichever realm made it; NaN if it is invalid, undefined if it is no date at all. */
export function timeOfDate(value: unknown): number | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  try {
    return Date.prototype.getTime.call(value);
  } catch {
    return undefined;
  }
}

import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { CallersError } from "./clear-answer.ts";

/** How to make a value that even looking at does harm: made when it is used, and described without being looked at. */
export class Recipe<Value = unknown> {
  readonly description: string;
  readonly make: () => Value;

  constructor(description: string, make: () => Value) {
    this.description = description;
    this.make = make;
  }

  [fc.toStringMethod](): string {
    return this.description;
  }
}

/** Values that do no harm, as recipes. */
export function given<Value>(values: fc.Arbitrary<Value>): fc.Arbitrary<Recipe<Value>> {
  return values.map((value) => new Recipe(fc.stringify(value).slice(0, 200), () => value));
}

/** Texts that break what puts them into SQL, URLs, logs, keys of objects or fixed lengths. */
const texts: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.string({ maxLength: 40 }),
  fc.constantFrom(
    "",
    " ",
    "\0",
    "a\0b",
    "\ud800",
    "a\udc00",
    "\u202etxt",
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "$relay",
    "$perdure",
    "'; drop table perdure_hook; --",
    "%",
    "$1",
    "?",
    "NaN",
    "1e999 seconds",
    "null",
    "é".repeat(255),
    "😀".repeat(128),
    "x".repeat(100),
    "x".repeat(101),
    "x".repeat(255),
    "x".repeat(256),
    "x".repeat(100_000),
  ),
);

const numbers: fc.Arbitrary<number> = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.constantFrom(
    Number.NaN,
    -0,
    Infinity,
    -Infinity,
    2 ** 31,
    2 ** 53,
    2 ** 63,
    Number.MAX_VALUE,
    Number.MIN_VALUE,
    8.64e15,
  ),
);

class Custom {
  readonly field = 1;
}

function fail(): never {
  throw new CallersError("an accessor of the caller's threw");
}

function deep(levels: number): unknown {
  let value: unknown = "end";
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { value };
  return value;
}

function cycle(): unknown {
  const value: Record<string, unknown> = { list: [] };
  (value.list as unknown[]).push(new Map([["self", value]]));
  return value;
}

function revoked(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

/** Made anew each time: a test must not see what an earlier one did to it. */
const TRAPS: readonly (() => unknown)[] = [
  () => Object.defineProperty({}, "payload", { enumerable: true, get: fail }),
  () => new Proxy({}, { get: fail }),
  () => new Proxy({}, { ownKeys: fail }),
  () => new Proxy({}, { getPrototypeOf: fail }),
  () => new Proxy([], { get: fail }),
  () => new Proxy(() => {}, { apply: fail, get: fail }),
  () => revoked({}),
  () => revoked([]),
  () => revoked(() => {}),
  () => ({ toString: fail, valueOf: fail, toJSON: fail }),
  () => ({ [Symbol.toPrimitive]: fail }),
  () => ({ toJSON: () => "replaced" }),
  () => Object.create(null) as unknown,
  () => Object.create({ inherited: 1 }) as unknown,
  () => JSON.parse('{"__proto__":{"polluted":true}}') as unknown,
  () => ({ $perdure: "Date", value: "no date" }),
  () => ({ $perdure: "Map", value: 5 }),
  () => ({ "~standard": { validate: fail } }),
  () => ({ kind: "hook" }),
  () => ({ kind: "hook", schema: null, retries: null, handler: 5 }),
  () => ({ mode: "sync", dialect: "sqlite" }),
  () => ({ mode: "async", dialect: "postgres", isOpen: fail, execute: fail }),
  () => ({ query: fail, connect: fail, end: fail, on: fail }),
  () => ({ exec: fail, prepare: fail, close: fail }),
  () => ({ store: {} }),
  () => new Custom(),
  () => Custom,
  () => new Date(Number.NaN),
  () => new Date(8.64e15),
  () => new Proxy(new Date(0), {}),
  () => Promise.resolve(1),
  () => new WeakMap(),
  () => new Error("an error", { cause: new Error("its cause") }),
  () => new (class extends Map {})(),
  () => Symbol("symbol"),
  () => Symbol.iterator,
  () => 10n ** 400n,
  () => () => {},
  () => function* generator() {},
  () => fail,
  () => cycle(),
  () => deep(10_000),
  () => deep(90),
  () => new Array(100_000),
  () => "x".repeat(2_000_000),
  () => new Uint8Array(3_000_000),
  () => Buffer.from("bytes"),
  () => new SharedArrayBuffer(8),
  () => new DataView(new ArrayBuffer(8)),
  () => structuredClone(new Map([[{ a: 1 }, new Set([1])]])),
  () => runInNewContext("({ a: [1, new Date(0)] })") as unknown,
  () => runInNewContext("new Date(0)") as unknown,
  () => runInNewContext("new Error('elsewhere')") as unknown,
];

const traps: fc.Arbitrary<Recipe> = fc
  .constantFrom(...TRAPS)
  .map((make) => new Recipe(String(make).replace("() => ", ""), make));

/** Data of every kind that JavaScript has, which is strange but honest. */
export const data: fc.Arbitrary<unknown> = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withTypedArray: true,
  withSparseArray: true,
  withObjectString: true,
  withNullPrototype: false,
  maxDepth: 3,
  key: fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "$perdure", "toJSON", "then")),
});

/** Anything at all. */
export const hostileValue: fc.Arbitrary<Recipe> = fc.oneof(
  { weight: 3, arbitrary: traps },
  { weight: 2, arbitrary: given(texts) },
  { weight: 2, arbitrary: given(numbers) },
  { weight: 2, arbitrary: given(data) },
  { weight: 1, arbitrary: given(fc.constantFrom(undefined, null, true, false, {}, [])) },
);

export const hostileText: fc.Arbitrary<Recipe<string>> = given(texts);
export const hostileNumber: fc.Arbitrary<Recipe<number>> = given(numbers);

type Fields = Readonly<Record<string, fc.Arbitrary<Recipe>>>;

/** Options of which some are right, some are wrong, some are unknown, and which may not be options at all. */
export function hostileOptions(fields: Fields): fc.Arbitrary<Recipe> {
  const mixed = Object.entries(fields).map(([name, right]) => [
    name,
    fc.oneof({ weight: 3, arbitrary: right }, { weight: 1, arbitrary: hostileValue }),
  ]);
  const known: fc.Arbitrary<[string, Recipe][]> = fc
    .record(Object.fromEntries(mixed) as Record<string, fc.Arbitrary<Recipe>>, { requiredKeys: [] })
    .map((record) => Object.entries(record) as [string, Recipe][]);
  const extended = fc
    .tuple(known, texts, hostileValue)
    .map(([entries, name, value]) => [...entries, [name, value] as [string, Recipe]]);
  return fc.oneof(
    { weight: 8, arbitrary: known.map(toOptions) },
    { weight: 1, arbitrary: extended.map(toOptions) },
    { weight: 1, arbitrary: hostileValue },
  );
}

function toOptions(entries: readonly [string, Recipe][]): Recipe {
  const description = entries.map(([name, { description }]) => `${name.slice(0, 50)}: ${description}`).join(", ");
  return new Recipe(`{ ${description} }`, () => {
    const options = {};
    for (const [name, { make }] of entries) {
      Object.defineProperty(options, name, { value: make(), enumerable: true, configurable: true });
    }
    return options;
  });
}

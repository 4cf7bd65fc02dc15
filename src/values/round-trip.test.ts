import { DatabaseSync } from "node:sqlite";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { Client } from "pg";
import { describe, expect, inject, test } from "vitest";
import { decodeValue, encodeValue } from "./index.ts";

/** Any code units, so NUL and lone surrogates too. */
const anyText = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 8 })
  .map((units) => String.fromCharCode(...units));
const anyKey = fc.oneof(
  anyText,
  fc.constantFrom(
    "$perdure",
    "__proto__",
    "constructor",
    "prototype",
    "toJSON",
    "value",
    "length",
    "name",
    "stack",
    "",
  ),
);
const anyNumber = fc.oneof(fc.double(), fc.constantFrom(-0, 0, Number.NaN, Infinity, -Infinity, 1e21, 5e-324));
const anyRegExp = fc
  .tuple(
    fc.constantFrom("a+", "^(?<x>.)$", "/", "\\n", "[\\u0000]", "(?:)"),
    fc.subarray(["d", "g", "i", "m", "s", "u", "y"]),
  )
  .map(([source, flags]) => new RegExp(source, flags.join("")));
const anyBytes = fc.uint8Array({ maxLength: 64 }).chain((bytes) => {
  const whole = bytes.slice(0, bytes.length - (bytes.length % 8));
  return fc.constantFrom<ArrayBuffer | ArrayBufferView>(
    bytes,
    Buffer.from(bytes),
    bytes.buffer,
    new DataView(bytes.buffer),
    new Int8Array(bytes.buffer),
    new Uint8ClampedArray(bytes.buffer),
    new Int16Array(whole.buffer),
    new Uint16Array(whole.buffer),
    new Int32Array(whole.buffer),
    new Uint32Array(whole.buffer),
    ...("Float16Array" in globalThis ? [new Float16Array(whole.buffer)] : []),
    new Float32Array(whole.buffer),
    new Float64Array(whole.buffer),
    new BigInt64Array(whole.buffer),
    new BigUint64Array(whole.buffer),
  );
});

/** Own data properties, whatever the keys are called. */
function objectFrom(entries: readonly (readonly [string, unknown])[]): object {
  return Object.fromEntries(entries);
}

const { value: anyValue } = fc.letrec<{ value: unknown; entries: [string, unknown][]; error: Error }>((tie) => ({
  entries: fc.array(fc.tuple(anyKey, tie("value")), { maxLength: 4 }),
  error: fc
    .tuple(
      fc.constantFrom(Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError),
      anyText,
      fc.option(tie("value"), { nil: undefined }),
      tie("entries"),
    )
    .map(([ErrorClass, message, cause, entries]) => {
      const error = cause === undefined ? new ErrorClass(message) : new ErrorClass(message, { cause });
      for (const [key, value] of entries) {
        Object.defineProperty(error, key, { value, enumerable: true, configurable: true, writable: true });
      }
      return error;
    }),
  value: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    anyText,
    anyNumber,
    fc.boolean(),
    fc.constantFrom(null, undefined),
    fc.bigInt(),
    fc.date({ noInvalidDate: true }),
    anyRegExp,
    anyBytes,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.sparseArray(tie("value"), { maxLength: 8, maxNumElements: 4 }),
    tie("entries").map(objectFrom),
    fc.array(fc.tuple(tie("value"), tie("value")), { maxLength: 4 }).map((entries) => new Map(entries)),
    fc.array(tie("value"), { maxLength: 4 }).map((items) => new Set(items)),
    tie("error"),
    fc
      .tuple(fc.array(tie("value"), { maxLength: 3 }), anyText)
      .map(([errors, message]) => new AggregateError(errors, message)),
  ),
}));

describe("a stored value comes back as it was", () => {
  test("for any value, nested in any way", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const text = encodeValue(value);
        const decoded = decodeValue(text);
        expect(isDeepStrictEqual(decoded, value)).toBe(true);
        expect(encodeValue(decoded)).toBe(text); // what isDeepStrictEqual leaves out: stacks and order
      }),
      { numRuns: 2000 },
    );
  });

  test("as text that SQLite's JSON functions accept", () => {
    using database = new DatabaseSync(":memory:");
    const isValid = database.prepare("select json_valid(?) as valid");
    fc.assert(
      fc.property(anyValue, (value) => {
        expect(isValid.get(encodeValue(value))).toEqual({ valid: 1 });
      }),
    );
  });

  test("as text that PostgreSQL's json type accepts and keeps", async () => {
    const client = new Client(inject("postgres").url);
    await client.connect();
    try {
      const texts = fc.sample(anyValue, 500).map((value) => encodeValue(value));
      const { rows } = await client.query("select text::json::text as kept from unnest($1::text[]) as text", [texts]);
      expect(rows.map(({ kept }) => kept)).toEqual(texts);
    } finally {
      await client.end();
    }
  });

  test("as well-formed text without NUL, which every database can hold", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const text = encodeValue(value);
        expect(text.isWellFormed()).toBe(true);
        expect(text.includes("\0")).toBe(false);
      }),
    );
  });

  test.each([
    ["undefined at the top", undefined, '{"$perdure":"undefined"}'],
    ["undefined in an object", { a: undefined }, '{"a":{"$perdure":"undefined"}}'],
    ["-0", -0, '{"$perdure":"number","value":"-0"}'],
    ["NaN", Number.NaN, '{"$perdure":"number","value":"NaN"}'],
    ["a BigInt", 12n, '{"$perdure":"bigint","value":"12"}'],
    ["a Date", new Date(0), '{"$perdure":"Date","value":"1970-01-01T00:00:00.000Z"}'],
    ["an invalid Date", new Date(Number.NaN), '{"$perdure":"Date","value":null}'],
    ["a RegExp", /a"+/gi, '{"$perdure":"RegExp","source":"a\\"+","flags":"gi"}'],
    ["a Map", new Map([["a", 1]]), '{"$perdure":"Map","value":[["a",1]]}'],
    ["a Set", new Set(["a"]), '{"$perdure":"Set","value":["a"]}'],
    ["bytes", new Uint8Array([1, 2]), '{"$perdure":"Uint8Array","value":"AQI="}'],
    // biome-ignore lint/suspicious/noSparseArray: holes are what is tested
    ["an array with a hole", [1, , 3], '{"$perdure":"array","length":3,"value":{"0":1,"2":3}}'],
    ["data that looks like a tag", { $perdure: "Date" }, '{"$perdure":"object","value":{"$perdure":"Date"}}'],
  ])("in the documented form: %s", (_, value, text) => {
    expect(encodeValue(value)).toBe(text);
    expect(decodeValue(text)).toStrictEqual(value);
  });

  test("with `__proto__` as an own property and an untouched prototype", () => {
    const decoded = decodeValue(encodeValue(JSON.parse('{"__proto__":{"admin":true},"date":0}'))) as object;
    const special = decodeValue(encodeValue(objectFrom([["__proto__", new Date(0)]]))) as object;
    expect(Object.keys(decoded)).toEqual(["__proto__", "date"]);
    expect(Object.getOwnPropertyDescriptor(special, "__proto__")?.value).toEqual(new Date(0));
    for (const object of [decoded, special]) expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
  });

  test("with only the bytes that a view shows", () => {
    const whole = new Uint8Array([0, 0, 1, 2, 3, 4, 0, 0]);
    expect(decodeValue(encodeValue(whole.subarray(2, 6)))).toEqual(new Uint8Array([1, 2, 3, 4]));
    const view = decodeValue(encodeValue(new DataView(whole.buffer, 2, 4))) as DataView;
    expect([view.byteOffset, view.byteLength, view.getUint8(0)]).toEqual([0, 4, 1]);
  });

  test("with bytes that are longer than one chunk of base64", () => {
    const bytes = new Uint8Array(100_001).map((_, index) => index * 7);
    expect(decodeValue(encodeValue(bytes))).toEqual(bytes);
  });

  test("with a null prototype made plain", () => {
    const decoded = decodeValue(encodeValue(Object.assign(Object.create(null), { a: new Date(0) })));
    expect(decoded).toStrictEqual({ a: new Date(0) });
  });

  test("with the elements of an array, not its named properties", () => {
    const array = Object.assign([1, 2, 3], { name: "n", 4294967295: "past the last index" });
    expect(decodeValue(encodeValue(array))).toStrictEqual([1, 2, 3]);
    Reflect.deleteProperty(array, 1);
    expect(Object.keys(decodeValue(encodeValue(array)) as object)).toEqual(["0", "2"]);
  });

  test("with holes that take no memory and no time", () => {
    const array: unknown[] = [];
    array[4_000_000_000] = "last";
    const decoded = decodeValue(encodeValue(array)) as unknown[];
    expect(decoded.length).toBe(4_000_000_001);
    expect(Object.keys(decoded)).toEqual(["4000000000"]);
  });
});

describe("a stored error comes back", () => {
  test("as its built-in class, with message, stack, cause and own properties where they were", () => {
    const error = Object.assign(new TypeError("no", { cause: new RangeError("why") }), { code: "E1", at: new Date(0) });
    const decoded = decodeValue(encodeValue(error)) as TypeError & { cause: RangeError };
    expect(decoded).toBeInstanceOf(TypeError);
    expect(decoded.cause).toBeInstanceOf(RangeError);
    expect(decoded.stack).toBe(error.stack);
    expect(Object.keys(decoded)).toEqual(["code", "at"]);
    expect(decoded).toMatchObject({ name: "TypeError", message: "no", code: "E1", at: new Date(0) });
  });

  test("as the nearest built-in class when it is of a user's own class", () => {
    class PaymentError extends RangeError {
      override name = "PaymentError";
      readonly amount = 5;
    }
    const decoded = decodeValue(encodeValue(new PaymentError("declined")));
    expect(Object.getPrototypeOf(decoded)).toBe(RangeError.prototype);
    expect(decoded).toMatchObject({ name: "PaymentError", message: "declined", amount: 5 });
    expect(Object.keys(decoded as object)).toEqual(["name", "amount"]);
  });

  test("with a name that its class's prototype gave it", () => {
    class QuietError extends Error {}
    Object.defineProperty(QuietError.prototype, "name", { value: "QuietError" });
    const decoded = decodeValue(encodeValue(new QuietError("x"))) as Error;
    expect(decoded.name).toBe("QuietError");
    expect(Object.keys(decoded)).toEqual([]);
  });

  test("with the errors of an AggregateError", () => {
    const aggregate = decodeValue(encodeValue(new AggregateError([new TypeError("a"), "b"], "all"))) as AggregateError;
    expect(aggregate).toBeInstanceOf(AggregateError);
    expect(aggregate.errors).toEqual([new TypeError("a"), "b"]);
  });

  test.runIf("SuppressedError" in globalThis)("with the errors of a SuppressedError", () => {
    const suppressed = decodeValue(encodeValue(new SuppressedError("first", "second", "m"))) as SuppressedError;
    expect(suppressed).toBeInstanceOf(SuppressedError);
    expect([suppressed.error, suppressed.suppressed, suppressed.message]).toEqual(["first", "second", "m"]);
  });

  test("as a DOMException, such as an aborted signal's reason", () => {
    const reason: unknown = AbortSignal.abort().reason;
    const decoded = decodeValue(encodeValue(reason));
    expect(decoded).toBeInstanceOf(DOMException);
    expect(decoded).toMatchObject({ name: "AbortError", message: (reason as Error).message, code: 20 });
  });

  test("with a message that isn't text", () => {
    const error = new Error("x");
    Object.defineProperty(error, "message", { value: 5 });
    expect((decodeValue(encodeValue(error)) as { message: unknown }).message).toBe(5);
  });

  test("with each property stored once", () => {
    const text = encodeValue(Object.assign(new Error("x"), { errors: [1], cause: 2 }));
    expect(text.match(/"(errors|cause)"/g)).toEqual(['"errors"', '"cause"']);
    expect(Object.keys(decodeValue(text) as object)).toEqual(["errors", "cause"]);
  });

  test("without the stack of the decoder when it had none", () => {
    const error = new Error("x");
    Reflect.deleteProperty(error, "stack");
    expect((decodeValue(encodeValue(error)) as Error).stack).toBeUndefined();
  });
});

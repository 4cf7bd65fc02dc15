import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { InvalidInputError } from "../errors.ts";
import { decodeValue, encodeValue } from "./index.ts";

class Foo {
  readonly a = 1;
}

function refusalOf(value: unknown, options?: { label?: string; maxBytes?: number }): InvalidInputError {
  try {
    encodeValue(value, options);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidInputError);
    return error as InvalidInputError;
  }
  throw new Error("It was not refused.");
}

function isAccepted(value: unknown): boolean {
  try {
    encodeValue(value);
    return true;
  } catch {
    return false;
  }
}

function nested(levels: number): unknown {
  let value: unknown = "bottom";
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { value };
  return value;
}

describe("plain JSON", () => {
  test("is stored as exactly JSON.stringify's text", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        fc.pre(!JSON.stringify(value).includes("$perdure"));
        const plain: unknown = JSON.parse(JSON.stringify(value)); // without -0, which isn't JSON
        const text = encodeValue(plain);
        expect(text).toBe(JSON.stringify(plain));
        expect(decodeValue(text)).toStrictEqual(plain);
      }),
      { numRuns: 1000 },
    );
  });

  test("is written the same way beside values that aren't plain", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        fc.pre(!JSON.stringify(value).includes("$perdure"));
        const plain: unknown = JSON.parse(JSON.stringify(value));
        expect(encodeValue([plain, 1n])).toBe(`[${JSON.stringify(plain)},{"$perdure":"bigint","value":"1"}]`);
      }),
    );
  });

  test("may hold the same object twice", () => {
    const shared = { a: 1 };
    expect(encodeValue([shared, shared])).toBe('[{"a":1},{"a":1}]');
    expect(encodeValue([shared, shared, 1n])).toContain('{"a":1},{"a":1}');
  });

  describe("when a library has added toJSON to a prototype", () => {
    afterEach(() => {
      Reflect.deleteProperty(Object.prototype, "toJSON");
      Reflect.deleteProperty(BigInt.prototype, "toJSON");
    });

    test("is stored as it is", () => {
      for (const prototype of [Object.prototype, BigInt.prototype]) {
        Object.defineProperty(prototype, "toJSON", { value: () => "replaced", configurable: true });
      }
      expect(encodeValue({ a: [1, "b"] })).toBe('{"a":[1,"b"]}');
      expect(encodeValue([1n])).toBe('[{"$perdure":"bigint","value":"1"}]');
    });
  });
});

describe("a value that can't be stored is refused, with its path and kind", () => {
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const transferred = new Uint8Array(4);
  structuredClone(transferred.buffer, { transfer: [transferred.buffer] });

  test.each([
    ["a function", () => 1, "a function"],
    ["a class", Foo, "a function"],
    ["a symbol", Symbol("x"), "a symbol"],
    ["a class instance", new Foo(), "an instance of Foo"],
    ["a subclass of Map", new (class Cache extends Map {})(), "an instance of Cache"],
    ["a subclass of Array", new (class Rows extends Array {})(), "an instance of Rows"],
    ["a subclass of Date", new (class Day extends Date {})(), "an instance of Day"],
    ["a subclass of Uint8Array", new (class Bytes extends Uint8Array {})(), "an instance of Bytes"],
    [
      "an imitation of Map",
      new (class Sham {
        [Symbol.toStringTag] = "Map";
      })(),
      "an instance of Sham",
    ],
    ["a WeakMap", new WeakMap(), "an instance of WeakMap"],
    ["a WeakRef", new WeakRef({}), "an instance of WeakRef"],
    ["a Promise", Promise.resolve(), "an instance of Promise"],
    ["a boxed string", Object("x"), "an instance of String"],
    ["a boxed BigInt", Object(1n), "an instance of BigInt"],
    ["a URL", new URL("https://example.com"), "an instance of URL"],
    ["a SharedArrayBuffer", new SharedArrayBuffer(1), "an instance of SharedArrayBuffer"],
    ["an object that inherits data", Object.create({ a: 1 }), "an object with a prototype of its own"],
    [
      "an object whose prototype has no class",
      Object.create(Object.create(null)),
      "an object with a prototype of its own",
    ],
    ["a revoked proxy", revoked.proxy, "unreadable"],
    ["bytes that were transferred away", transferred, "unreadable"],
  ])("%s", (_, value, kind) => {
    const refusal = refusalOf({ items: [0, 1, 2, { owner: value }] }, { label: "payload" });
    expect(refusal.code).toBe("value.unsupported");
    expect(refusal.message).toContain(`payload.items[3].owner is ${kind} and can't be stored.`);
    expect(refusalOf(value).message).toContain(`value is ${kind} and`);
  });

  test("an accessor that throws, with what it threw", () => {
    const reason = new Error("not now");
    const refusal = refusalOf({
      a: {
        get b(): never {
          throw reason;
        },
      },
    });
    expect(refusal).toMatchObject({ code: "value.unsupported", cause: reason });
    expect(refusal.message).toContain("value.a.b is unreadable");
  });

  test.each([
    ["a key that is no identifier", { "e-mail": { "": Foo } }, 'value["e-mail"][""]'],
    [
      "a key of a Map",
      new Map<unknown, unknown>([
        [1, 1],
        [Foo, 2],
      ]),
      "value.entries()[1][0]",
    ],
    ["a long path", [[[[[[[[[[[[[[Foo]]]]]]]]]]]]]], "value[0][0][0][0][0][0][0][0]…[0][0][0][0]"],
    ["a long key", { ["k".repeat(100)]: Foo }, `value["${"k".repeat(64)}…"]`],
    ["a value of a Map", new Map([["a", { b: Foo }]]), "value.entries()[0][1].b"],
    ["an item of a Set", new Set([0, Foo]), "value.values()[1]"],
    ["a cause", { failure: new Error("x", { cause: [Foo] }) }, "value.failure.cause[0]"],
    ["one of several errors", new AggregateError([0, Foo]), "value.errors[1]"],
    ["a property of an error", Object.assign(new Error("x"), { socket: Foo }), "value.socket"],
    // biome-ignore lint/suspicious/noSparseArray: holes are what is tested
    ["an element behind a hole", [, [Foo]], "value[1][0]"],
    ["a toJSON method", { toJSON: () => 1 }, "value.toJSON"],
    ["something after a sibling that was stored", { a: { b: [1n] }, c: Foo }, "value.c"],
  ])("in %s", (_, value, path) => {
    expect(refusalOf(value).message.startsWith(`${path} is a function`)).toBe(true);
  });

  test("a Promise, with a hint", () => {
    expect(refusalOf({ result: Promise.resolve() }).message).toContain("Was an await forgotten?");
  });

  test("a cycle, with both of its ends", () => {
    const parent: Record<string, unknown> = { name: "p" };
    parent["children"] = [{ parent }];
    const refusal = refusalOf({ root: parent }, { label: "params" });
    expect(refusal.code).toBe("value.cycle");
    expect(refusal.message).toContain("params.root.children[0].parent is a reference back to params.root and");
  });

  test("a cycle through a Map or a cause", () => {
    const map = new Map();
    map.set("self", map);
    const error = new Error("x");
    error.cause = error;
    expect(refusalOf(map).code).toBe("value.cycle");
    expect(refusalOf(error).code).toBe("value.cycle");
  });

  test("more than 500 levels", () => {
    expect(decodeValue(encodeValue(nested(500)))).toStrictEqual(nested(500));
    expect(refusalOf(nested(501)).code).toBe("value.too_deep");
    expect(refusalOf(nested(100_000)).code).toBe("value.too_deep");
  });

  test("so that whatever is accepted can be decoded, however tags deepen it", () => {
    const wrappers: ((inner: unknown) => unknown)[] = [
      (inner) => [inner],
      (inner) => ({ $perdure: inner }),
      (inner) => new Map([["key", inner]]),
      (inner) => new Map([[inner, "value"]]),
      (inner) => new Set([inner]),
      (inner) => new Error("x", { cause: inner }),
      (inner) => Object.assign(new Error("x"), { inner }),
      (inner) => Object.assign(Array(2), { 1: inner }),
    ];
    for (const wrap of wrappers) {
      let value: unknown; // undefined, whose tag is one level more
      for (let level = 0; level < 160; level += 1) value = wrap(value);
      let wrapped = wrap(value);
      for (; isAccepted(wrapped); wrapped = wrap(wrapped)) value = wrapped;
      for (let outer: unknown = value; isAccepted(outer); outer = [outer]) value = outer;
      expect(refusalOf(wrapped).code).toBe("value.too_deep");
      expect(encodeValue(decodeValue(encodeValue(value)))).toBe(encodeValue(value));
    }
  });
});

describe("maxBytes", () => {
  test("counts bytes of UTF-8", () => {
    expect(encodeValue("äöü", { maxBytes: 8 })).toBe('"äöü"');
    expect(refusalOf("€€€€€€€€", { maxBytes: 25 }).code).toBe("value.too_large");
    expect(refusalOf("äöü", { maxBytes: 7, label: "output" })).toMatchObject({
      code: "value.too_large",
      message: expect.stringContaining("output is larger than 7 bytes of JSON"),
    });
  });

  test("agrees with TextEncoder for any text and limit", () => {
    const anyCharacters = fc.array(fc.constantFrom("a", "ä", "€", "😀", "\0", "\ud800"), { maxLength: 20 });
    fc.assert(
      fc.property(anyCharacters, fc.nat({ max: 50 }), fc.boolean(), (characters, maxBytes, special) => {
        const text = characters.join("");
        const value = special ? [text, undefined] : text;
        const fits = new TextEncoder().encode(encodeValue(value)).length <= maxBytes;
        if (fits) expect(encodeValue(value, { maxBytes })).toBe(encodeValue(value));
        else expect(refusalOf(value, { maxBytes }).code).toBe("value.too_large");
      }),
    );
  });

  test("stops early where shared objects multiply", () => {
    let value: unknown = "x";
    for (let level = 0; level < 60; level += 1) value = [value, value];
    expect(refusalOf(value, { maxBytes: 100_000 }).code).toBe("value.too_large");
  });
});

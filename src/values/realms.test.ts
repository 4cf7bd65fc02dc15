import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { decodeValue, encodeValue } from "./index.ts";

/** As under jest, whose tests run in a context of their own. */
describe("a value of another realm", () => {
  test.each([
    ["a plain object", "({ a: { b: 1 } })", { a: { b: 1 } }],
    ["an array", "[1, [2]]", [1, [2]]],
    ["a Date", "new Date(5)", new Date(5)],
    ["a Map", "new Map([['a', new Date(5)]])", new Map([["a", new Date(5)]])],
    ["a Set", "new Set([1])", new Set([1])],
    ["a RegExp", "/a/g", /a/g],
    ["an ArrayBuffer", "new Uint8Array([1, 2]).buffer", new Uint8Array([1, 2]).buffer],
    ["a typed array", "new Float32Array([1, 2])", new Float32Array([1, 2])],
    ["a DataView", "new DataView(new ArrayBuffer(2))", new DataView(new ArrayBuffer(2))],
  ])("is stored: %s", (_, code, expected) => {
    expect(decodeValue(encodeValue(runInNewContext(code)))).toStrictEqual(expected);
  });

  test("is stored: an error of a user's class, as the nearest built-in class", () => {
    const code =
      "class Late extends TypeError {}; Object.assign(new Late('x', { cause: new Error('y') }), { code: 1 })";
    const decoded = decodeValue(encodeValue(runInNewContext(code))) as TypeError;
    expect(decoded).toBeInstanceOf(TypeError);
    expect(decoded).toMatchObject({ message: "x", code: 1 });
    expect(decoded.cause).toStrictEqual(new Error("y"));
  });

  test("is refused like any other", () => {
    expect(() => encodeValue({ a: runInNewContext("new (class Foo {})()") })).toThrow("value.a is an instance of Foo");
    expect(() => encodeValue(runInNewContext("new (class Rows extends Array {})()"))).toThrow("an instance of Rows");
    expect(() => encodeValue(runInNewContext("Promise.resolve()"))).toThrow("an instance of Promise");
  });
});

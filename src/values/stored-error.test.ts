import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AttemptAbortedError, NonRetryableError } from "../errors.ts";
import { decodeValue, describeError, encodeError, MAX_ERROR_BYTES } from "./index.ts";

class Socket {
  readonly host = "db";
}

const stored = (thrown: unknown): unknown => decodeValue(encodeError(thrown));
const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

function chainOfCauses(length: number): Error {
  let error = new Error("root");
  for (let level = 1; level < length; level += 1) error = new Error(`level ${level}`, { cause: error });
  return error;
}

describe("encodeError", () => {
  test.each([["text"], [42], [undefined], [null], [10n], [{ code: "E1" }]])("keeps %s as it was thrown", (thrown) => {
    expect(stored(thrown)).toStrictEqual(thrown);
  });

  test("keeps an ordinary error whole", () => {
    const error = Object.assign(new TypeError("no", { cause: new Error("why") }), {
      code: "E1",
      retryAfter: new Date(5),
    });
    expect(stored(error)).toStrictEqual(error);
    expect((stored(error) as Error).stack).toBe(error.stack);
  });

  test("describes what can't be stored and keeps the rest", () => {
    const error = Object.assign(new Error("lost"), {
      code: "ECONNRESET",
      socket: new Socket(),
      request: { method: "GET", abort: () => undefined, headers: new Map([["agent", new Socket()]]) },
    });
    Object.defineProperty(error, "response", {
      enumerable: true,
      get: () => {
        throw new Error("gone");
      },
    });
    expect(stored(error)).toMatchObject({
      message: "lost",
      code: "ECONNRESET",
      socket: "[an instance of Socket: not stored]",
      request: {
        method: "GET",
        abort: "[a function: not stored]",
        headers: new Map([["agent", "[an instance of Socket: not stored]"]]),
      },
      response: "[unreadable: not stored]",
    });
  });

  test("describes each place of the same unsupported object, and a proxy that can't be listed", () => {
    const socket = new Socket();
    const unlisted = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error("no");
        },
      },
    );
    expect(stored({ a: socket, b: socket, c: unlisted, d: 1 })).toEqual({
      a: "[an instance of Socket: not stored]",
      b: "[an instance of Socket: not stored]",
      c: "[unreadable: not stored]",
      d: 1,
    });
  });

  test("gives up early where shared objects multiply", () => {
    let detail: unknown = "x";
    for (let level = 0; level < 18; level += 1) detail = Array(10).fill(detail);
    expect(stored(Object.assign(new Error("lost"), { detail, code: 1 }))).toMatchObject({ message: "lost", code: 1 });
  });

  test("ends cyclic causes", () => {
    const first = new Error("first");
    const second = new Error("second", { cause: first });
    first.cause = second;
    expect(stored(first)).toMatchObject({ message: "first", cause: { message: "second" } });
    expect((stored(first) as { cause: Error }).cause.cause).toBe("[a reference back to error: not stored]");
  });

  test("ends long chains of causes", () => {
    const shortStacks = chainOfCauses(1000);
    for (let error = shortStacks; error; error = error.cause as Error) error.stack = "";
    let depth = 0;
    for (let error = stored(shortStacks); error instanceof Error; error = error.cause) depth += 1;
    expect(depth).toBe(20);
    expect(bytesOf(encodeError(chainOfCauses(1000)))).toBeLessThanOrEqual(MAX_ERROR_BYTES);
  });

  test("cuts what is too large, and keeps the class, the short properties and the first causes", () => {
    const error = Object.assign(new RangeError("m".repeat(1e6), { cause: new TypeError("why") }), {
      name: "QuotaError",
      code: "E1",
      status: 429,
      body: "b".repeat(1e6),
    });
    const decoded = stored(error) as RangeError & { cause: Error };
    expect(decoded).toBeInstanceOf(RangeError);
    expect(decoded).toMatchObject({ name: "QuotaError", code: "E1", status: 429 });
    expect(decoded.message).toMatch(/^m{2000,}…$/);
    expect(decoded.stack?.length).toBeGreaterThan(100);
    expect(decoded.cause).toBeInstanceOf(TypeError);
    expect(decoded.cause.message).toBe("why");
    expect("body" in decoded).toBe(false);
  });

  test("keeps three causes of what is too large", () => {
    const error = chainOfCauses(10);
    error.message = "m".repeat(1e6);
    const messages: string[] = [];
    for (let next: unknown = stored(error); next instanceof Error; next = next.cause) messages.push(next.message);
    expect(messages.slice(1)).toEqual(["level 8", "level 7", "level 6"]);
  });

  test("keeps an error of which every character must be escaped", () => {
    const error = new TypeError("\0".repeat(1e5), { cause: new Error("\0".repeat(1e5)) });
    error.stack = "\0".repeat(1e5);
    expect(stored(error)).toBeInstanceOf(TypeError);
  });

  test.each(["", "x"])("cuts a long text, not in the middle of a character, after %j", (start) => {
    const text = stored(start + "😀".repeat(50_000)) as string;
    expect(text.isWellFormed()).toBe(true);
    expect(text.endsWith("😀…")).toBe(true);
  });

  test("makes an error of an instance that isn't one", () => {
    class Rejection {
      readonly message = "declined";
      readonly name = "Rejection";
      readonly code = 7;
    }
    const decoded = stored(new Rejection());
    expect(decoded).toBeInstanceOf(Error);
    expect(decoded).toMatchObject({ name: "Rejection", message: "declined", code: 7 });
    expect(stored(new Socket())).toMatchObject({ message: "an instance of Socket" });
    expect(stored(() => 1)).toMatchObject({ message: "a function" });
  });

  test("survives what can't even be looked at", () => {
    const revoked = Proxy.revocable(new Error("x"), {});
    revoked.revoke();
    expect(stored(revoked.proxy)).toBe("[an error that can't be read: not stored]");
    expect(describeError(revoked.proxy)).toEqual({ name: "Error", message: "an object that can't be read" });
    expect(stored({ inner: revoked.proxy })).toEqual({ inner: "[unreadable: not stored]" });
  });

  test("never throws, and always gives text of limited size that can be decoded", () => {
    const throwing = new Proxy(new Error("x"), {
      get: () => {
        throw new Error("no");
      },
    });
    const brokenStack = new Error("x");
    Object.defineProperty(brokenStack, "stack", {
      get: () => {
        throw new Error("no");
      },
    });
    const large = fc.constantFrom("\0".repeat(2e4), "\ud800".repeat(2e4), "😀".repeat(2e4), "a", "");
    const odd = fc.constantFrom<unknown>(throwing, brokenStack, new Socket(), Symbol("x"), -0, [new Socket()]);
    const { thrown } = fc.letrec<{ thrown: unknown }>((tie) => ({
      thrown: fc.oneof(
        { maxDepth: 5 },
        large,
        odd,
        fc.anything({ withBigInt: true, withMap: true, withSet: true, withBoxedValues: true, withDate: true }),
        fc.tuple(large, large, tie("thrown"), tie("thrown")).map(([message, stack, cause, detail]) => {
          const error = Object.assign(new Error(message, { cause }), { detail });
          error.stack = stack;
          return error;
        }),
        fc.array(tie("thrown"), { maxLength: 3 }).map((errors) => new AggregateError(errors, "several")),
      ),
    }));
    fc.assert(
      fc.property(thrown, (error) => {
        const text = encodeError(error);
        expect(bytesOf(text)).toBeLessThanOrEqual(MAX_ERROR_BYTES);
        decodeValue(text);
        const { name, message } = describeError(error);
        expect([typeof name, typeof message]).toEqual(["string", "string"]);
        expect(message.length).toBeLessThanOrEqual(2048);
      }),
      { numRuns: 300 },
    );
  });
});

describe("describeError", () => {
  test.each<[string, unknown, { name: string; message: string; code?: string }]>([
    ["an error", new TypeError("no"), { name: "TypeError", message: "no" }],
    ["something like an error", { message: "no", code: 1 }, { name: "Error", message: "no" }],
    ["a text", "no", { name: "Error", message: "no" }],
    ["nothing", undefined, { name: "Error", message: "undefined" }],
    ["a symbol", Symbol("x"), { name: "Error", message: "Symbol(x)" }],
    ["a plain object", { code: 1 }, { name: "Error", message: '{"code":1}' }],
    ["an instance", new Socket(), { name: "Error", message: "an instance of Socket" }],
    [
      "an error of ours",
      new AttemptAbortedError("step.timeout", "no"),
      { name: "AttemptAbortedError", message: "no", code: "step.timeout" },
    ],
    [
      "an error with a code of another kind",
      Object.assign(new Error("no"), { code: "ECONNRESET" }),
      { name: "Error", message: "no" },
    ],
    ["a refusal", new NonRetryableError("no", "Declined"), { name: "Declined", message: "no" }],
    ["an error with an empty name", Object.assign(new Error("no"), { name: "" }), { name: "Error", message: "no" }],
  ])("names %s", (_, thrown, description) => {
    expect(describeError(thrown)).toEqual(description);
  });
});

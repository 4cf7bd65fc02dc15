import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeValue, encodeError, encodeValue } from "../../src/values/index.ts";
import { DRIVERS } from "../support/engines.ts";
import { KEPT, useStore } from "../support/use-store.ts";

/** Any code units: NUL and lone surrogates too. */
const text = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 8 })
  .map((units) => String.fromCharCode(...units));
const key = fc.oneof(text, fc.constantFrom("__proto__", "constructor", "toJSON", "$perdure", "", "\0", "\ud800"));
const bytes = fc
  .uint8Array({ maxLength: 24 })
  .map((content) => content.slice(0, content.length - (content.length % 8)));
const typedArray = bytes.chain(({ buffer }) =>
  fc.constantFrom<ArrayBuffer | ArrayBufferView>(
    buffer,
    new Uint8Array(buffer),
    new Int16Array(buffer),
    new Float64Array(buffer),
    new BigInt64Array(buffer),
    new DataView(buffer),
  ),
);
const leaf = fc.oneof(
  text,
  fc.double(),
  fc.constantFrom(-0, Number.NaN, Number.POSITIVE_INFINITY, undefined, null, true, "\0", "\udfff\ud800"),
  fc.bigInt(),
  fc.date({ noInvalidDate: true }),
  typedArray,
);
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    leaf,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie("value")), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
    fc.array(fc.tuple(tie("value"), tie("value")), { maxLength: 3 }).map((entries) => new Map(entries)),
    fc.array(tie("value"), { maxLength: 3 }).map((items) => new Set(items)),
    fc.tuple(text, tie("value")).map(([message, cause]) => new TypeError(message, { cause })),
  ),
}));

describe.each(DRIVERS)("values on $name", (engine) => {
  const fixture = useStore(engine);

  test("come back from the queue as they went in", async () => {
    const batches = fc.array(anyValue, { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(batches, async (values) => {
        fixture.nextNamespace();
        const payloads = values.map((value) => encodeValue(value));
        await fixture.hooks.insert(payloads.map((payload) => fixture.trigger({ payload, trace: payload })));

        const claimed = await fixture.claim({ limit: values.length });

        expect(claimed.map(({ payload }) => payload)).toEqual(payloads);
        expect(claimed.map(({ trace }) => trace)).toEqual(payloads);
        const decoded = claimed.map(({ payload }) => decodeValue(payload));
        expect(isDeepStrictEqual(decoded, values)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  test("come back from beside a running hook as they went in", async () => {
    await fc.assert(
      fc.asyncProperty(anyValue, anyValue, async (first, second) => {
        fixture.nextNamespace();
        await fixture.insert({ key: "k", payload: encodeValue(first) });
        const running = await fixture.claimOne();
        await fixture.insert({ key: "k", payload: encodeValue(second) });
        await fixture.settle(running, KEPT);
        const again = await fixture.claimOne();

        expect(isDeepStrictEqual(decodeValue(running.payload), first)).toBe(true);
        expect(isDeepStrictEqual(decodeValue(again.payload), second)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  test("come back in errors as they went in", async () => {
    await fc.assert(
      fc.asyncProperty(text, anyValue, async (message, cause) => {
        fixture.nextNamespace();
        await fixture.insert({ id: "a" });
        const error = encodeError(new RangeError(message, { cause }));
        await fixture.settle(await fixture.claimOne(), { kind: "failed", error });

        expect((await fixture.get("a"))?.error).toBe(error);
      }),
      { numRuns: 30 },
    );
  });

  test("of plain JSON can be queried in their column", async () => {
    await fixture.insert({ id: "a", payload: encodeValue({ order: { total: 42 }, tags: ["new"] }) });
    const table = engine.dialect === "postgres" ? "perdure.hook" : "perdure_hook";
    const path = engine.dialect === "postgres" ? "payload -> 'order' ->> 'total'" : "payload ->> '$.order.total'";

    const rows = await fixture.store.engine.transaction((tx) =>
      tx.query(`select ${path} as total from ${table} where namespace = '${fixture.namespace}'`, []),
    );
    expect(rows.map(({ total }) => Number(total))).toEqual([42]);
  });

  test("of a megabyte fit", async () => {
    const payload = encodeValue("ä\0".repeat(150_000));
    await fixture.insert({ payload });

    expect(await fixture.claim()).toMatchObject([{ payload }]);
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { UnreadableValueError } from "../errors.ts";
import { decodeValue, encodeValue } from "./index.ts";

function isCorrupt(text: string): boolean {
  try {
    decodeValue(text);
    return false;
  } catch (error) {
    return error instanceof UnreadableValueError && error.code === "value.corrupt";
  }
}

const KINDS = [
  ..."undefined number bigint array object Date RegExp Map Set ArrayBuffer Buffer DataView Uint8Array".split(" "),
  ..."Float64Array BigInt64Array Error TypeError AggregateError SuppressedError DOMException".split(" "),
  ..."__proto__ constructor toString hasOwnProperty Function Object Promise".split(" "),
];

describe("text that was never encoded", () => {
  test.each([
    ["no JSON", "{"],
    ["nothing", ""],
    ["an unknown tag", '{"$perdure":"Temporal.Instant","value":"x"}'],
    ["a tag named __proto__", '{"$perdure":"__proto__","value":{}}'],
    ["a tag named constructor", '{"$perdure":"constructor","value":"return 1"}'],
    ["a tag that is no text", '{"$perdure":{"$perdure":"undefined"}}'],
    ["a field that no tag of this kind has", '{"$perdure":"undefined","value":1}'],
    ["a __proto__ field", '{"$perdure":"Date","value":null,"__proto__":{}}'],
    ["an ordinary number in a tag", '{"$perdure":"number","value":"1"}'],
    ["a BigInt of letters", '{"$perdure":"bigint","value":"0x10"}'],
    ["a BigInt of nothing", '{"$perdure":"bigint","value":""}'],
    ["a date that is none", '{"$perdure":"Date","value":"2024-02-30T00:00:00.000Z"}'],
    ["a date in another form", '{"$perdure":"Date","value":"1 Jan 2024"}'],
    ["a date without a value", '{"$perdure":"Date"}'],
    ["a bad pattern", '{"$perdure":"RegExp","source":"(","flags":""}'],
    ["bad flags", '{"$perdure":"RegExp","source":"a","flags":"zz"}'],
    ["a Map of no pairs", '{"$perdure":"Map","value":[["a"]]}'],
    ["a Map of an object", '{"$perdure":"Map","value":{"length":1}}'],
    ["a Set of text", '{"$perdure":"Set","value":"abc"}'],
    ["bad base64", '{"$perdure":"Uint8Array","value":"*"}'],
    ["half an element", '{"$perdure":"Float64Array","value":"AQI="}'],
    ["an escaped array", '{"$perdure":"object","value":[]}'],
    ["an escaped null", '{"$perdure":"object","value":null}'],
    ["a negative length", '{"$perdure":"array","length":-1,"value":{}}'],
    ["an endless length", '{"$perdure":"array","length":4294967296,"value":{}}'],
    ["a length of text", '{"$perdure":"array","length":"1","value":{}}'],
    ["an element by another name", '{"$perdure":"array","length":5,"value":{"01":0}}'],
    ["an element past the end", '{"$perdure":"array","length":1,"value":{"1":0}}'],
    ["an element that is no index", '{"$perdure":"array","length":5,"value":{"length":0}}'],
    ["an error without a message", '{"$perdure":"Error","name":"Error"}'],
    ["an error of null properties", '{"$perdure":"Error","name":"Error","message":"","properties":null}'],
  ])("is corrupt: %s", (_, text) => {
    expect(isCorrupt(text)).toBe(true);
    expect(isCorrupt(`{"a":[${text || "]"}]}`)).toBe(true);
  });

  test("is corrupt when it isn't text at all", () => {
    for (const value of [undefined, null, 1, { a: 1 }, ["$perdure"]]) {
      if (value === null || value === 1) continue; // JSON.parse reads these as text
      expect(isCorrupt(value as unknown as string)).toBe(true);
    }
  });

  test("is corrupt, and no stack overflow, when tags are nested endlessly", () => {
    const depth = 200_000;
    const shallow = 2000; // deep enough to refuse, not to overflow
    expect(isCorrupt(`${"[".repeat(shallow)}{"$perdure":"undefined"}${"]".repeat(shallow)}`)).toBe(true);
    expect(isCorrupt(`${"[".repeat(depth)}{"$perdure":"undefined"}${"]".repeat(depth)}`)).toBe(true);
    expect(isCorrupt(`${'{"$perdure":"Set","value":['.repeat(depth)}${"]}".repeat(depth)}`)).toBe(true);
    expect(isCorrupt(`${'{"$perdure":"object","value":{"a":'.repeat(depth)}1${"}}".repeat(depth)}`)).toBe(true);
  });

  test("is either corrupt or decoded, and changes no prototype, whatever the tags hold", () => {
    const before = snapshotOfPrototypes();
    const field = fc.constantFrom(
      "value",
      "length",
      "name",
      "message",
      "stack",
      "cause",
      "properties",
      "__proto__",
      "source",
    );
    const { node } = fc.letrec<{ node: unknown }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom("", "AQI=", "polluted", null, 1, -1, 3e9, true),
        fc.array(tie("node"), { maxLength: 3 }),
        fc
          .tuple(fc.constantFrom(...KINDS), fc.array(fc.tuple(field, tie("node")), { maxLength: 4 }))
          .map(([kind, fields]) => Object.fromEntries([["$perdure", kind], ...fields])),
        fc.array(fc.tuple(field, tie("node")), { maxLength: 3 }).map((fields) => Object.fromEntries(fields)),
      ),
    }));
    fc.assert(
      fc.property(node, (hostile) => {
        const text = JSON.stringify(hostile);
        if (isCorrupt(text)) return;
        encodeValue(decodeValue(text)); // what is decoded is a value like any other
      }),
      { numRuns: 3000 },
    );
    expect(snapshotOfPrototypes()).toEqual(before);
  });

  test("cannot give an error another prototype", () => {
    const error = decodeValue(
      '{"$perdure":"Error","name":"Error","message":"","properties":{"__proto__":{"polluted":true}}}',
    ) as Error;
    expect(Object.getPrototypeOf(error)).toBe(Error.prototype);
    expect("polluted" in error).toBe(false);
  });

  test("takes no memory for the length that it claims", () => {
    const hole = '{"$perdure":"array","length":30000000,"value":{"0":1}}';
    const arrays = decodeValue(`[${Array(1000).fill(hole).join(",")}]`) as unknown[][];
    expect(arrays[999]?.length).toBe(30_000_000);
  });
});

describe("text that was changed where people may change it", () => {
  test("is decoded whatever the order of keys and the white space", () => {
    expect(decodeValue('{ "a": { "value": "1970-01-01T00:00:00.000Z", "$perdure": "Date" } }')).toEqual({
      a: new Date(0),
    });
  });
});

function snapshotOfPrototypes(): unknown {
  return [Object, Array, Error, Map, Set, Date, Function].map((builtIn) => Reflect.ownKeys(builtIn.prototype));
}

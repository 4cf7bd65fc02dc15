import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CodecError } from "../../errors.ts";
import { type AesGcmOptions, aesGcm } from "./aes-gcm.ts";

const OLD = new Uint8Array(32).fill(1);
const NEW = new Uint8Array(32).fill(2);
const LOCATION = '["hook.payload","app","greet"]';

describe("aesGcm", () => {
  const codec = aesGcm({ keys: { old: OLD }, current: "old" });

  test("gives back every text as it was", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme", maxLength: 200 }), fc.string(), async (text, location) => {
        const encoded = await codec.encode(text, location);
        expect(await codec.decode(encoded, location)).toBe(text);
      }),
      { numRuns: 200 },
    );
    const long = "ä€😀".repeat(200_000);
    expect(await codec.decode(await codec.encode(long, LOCATION), LOCATION)).toBe(long);
  });

  test("shows nothing of the text, and never makes the same of it twice", async () => {
    const encoded = await Promise.all(Array.from({ length: 100 }, () => codec.encode("secret", LOCATION)));
    expect(new Set(encoded).size).toBe(100);
    for (const one of encoded) expect(one).toMatch(/^aes-gcm:old:[A-Za-z0-9+/]+=*$/);
  });

  test("refuses a text of which anything was changed", async () => {
    const encoded = await codec.encode("secret!!", LOCATION); // 36 bytes with nonce and tag: every bit of the base64 counts
    const start = "aes-gcm:old:".length;
    for (let index = start; index < encoded.length; index++) {
      const other = encoded[index] === "A" ? "B" : "A";
      const changed = encoded.slice(0, index) + other + encoded.slice(index + 1);
      await expect(codec.decode(changed, LOCATION)).rejects.toMatchObject({ code: "codec.refused" });
    }
    for (const broken of ["", "secret", "aes-gcm:old:", "aes-gcm:old:AAAA", "aes-gcm:old:*", `${encoded}!`]) {
      await expect(codec.decode(broken, LOCATION)).rejects.toThrow(CodecError);
    }
  });

  test("refuses a text that was moved to another location", async () => {
    const encoded = await codec.encode("secret", LOCATION);
    const elsewhere = codec.decode(encoded, '["hook.payload","app","other"]');
    await expect(elsewhere).rejects.toMatchObject({ code: "codec.refused" });
  });

  test("reads with the key that was written with, and writes with the current one", async () => {
    const rotated = aesGcm({ keys: { old: OLD, new: NEW }, current: "new" });
    expect(await rotated.decode(await codec.encode("before", LOCATION), LOCATION)).toBe("before");
    const encoded = await rotated.encode("after", LOCATION);
    expect(encoded).toMatch(/^aes-gcm:new:/);
    await expect(codec.decode(encoded, LOCATION)).rejects.toMatchObject({
      code: "codec.key_missing",
      message: expect.stringContaining('"new"'),
    });
  });

  test("refuses another key of the same id", async () => {
    const other = aesGcm({ keys: { old: NEW }, current: "old" });
    await expect(other.decode(await codec.encode("x", LOCATION), LOCATION)).rejects.toMatchObject({
      code: "codec.refused",
    });
  });

  test("takes keys in base64, of every size that the algorithm has", async () => {
    for (const size of [16, 24, 32]) {
      const key = Buffer.alloc(size, 5);
      const [text, bytes] = [key.toString("base64"), key].map((one) => aesGcm({ keys: { k: one }, current: "k" }));
      expect(await bytes?.decode((await text?.encode("x", LOCATION)) as string, LOCATION)).toBe("x");
    }
  });

  test("checks its options at once, and shows no key", () => {
    const secret = "this-is-a-key-that-nobody-should-see";
    const wrong: unknown[] = [
      undefined,
      {},
      { keys: {}, current: "a" },
      { keys: [OLD], current: "b" },
      { keys: { a: OLD } },
      { keys: { a: OLD }, current: "b" },
      { keys: { a: OLD }, current: "__proto__" },
      { keys: { a: secret }, current: "a" },
      { keys: { a: new Uint8Array(31) }, current: "a" },
      { keys: { a: undefined }, current: "a" },
      { keys: { "a:b": OLD }, current: "a:b" },
      { keys: { a: OLD }, current: "a", nonce: "1" },
    ];
    for (const options of wrong) {
      const error = caught(() => aesGcm(options as AesGcmOptions));
      expect(error).toMatchObject({ code: "options.invalid" });
      expect(String(error)).not.toContain(secret);
    }
  });
});

function caught(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    return error;
  }
}

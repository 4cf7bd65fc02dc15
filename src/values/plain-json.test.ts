import { describe, expect, test } from "vitest";
import { isPlainJson } from "./plain-json.ts";

describe("isPlainJson", () => {
  test("knows plain JSON, however much of it there is and however often it holds the same object", () => {
    const shared = { a: [1, "b", true, null] };
    expect(isPlainJson(Array(5000).fill(shared), 1e6)).toBe(true);
    expect(
      isPlainJson(
        Array.from({ length: 5000 }, () => ({ a: {} })),
        1e6,
      ),
    ).toBe(true);
  });

  test.each([[undefined], [-0], [Number.NaN], [1n], [new Date(0)], [{ $perdure: 1 }], [Array(1)], [() => 1]])(
    "leaves %o to the writer",
    (value) => {
      expect(isPlainJson(value, 1e6)).toBe(false);
      expect(isPlainJson([{ value }], 1e6)).toBe(false);
    },
  );
});

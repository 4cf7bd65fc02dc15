import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeCursor, encodeCursor } from "./cursor.ts";

const ids = fc
  .string({ minLength: 1, maxLength: 255, unit: "binary" })
  .filter((id) => id.isWellFormed() && !id.includes("\0"));

test("a cursor is safe in a URL, and leads back to the id it was made of", () => {
  fc.assert(
    fc.property(ids, (id) => {
      const cursor = encodeCursor(id);
      expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
      expect(decodeCursor(cursor)).toBe(id);
    }),
  );
});

test("a cursor that no list has returned is refused, or is read as an id", () => {
  fc.assert(
    fc.property(fc.anything(), (value) => {
      try {
        expect(encodeCursor(decodeCursor(value))).toBe(value);
      } catch (error) {
        expect(error).toMatchObject({ code: "cursor.invalid" });
      }
    }),
  );
});

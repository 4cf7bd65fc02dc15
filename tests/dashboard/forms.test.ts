import { expect, test } from "vitest";
import { z } from "zod";
import { fieldOf, fits, type JsonSchema, toFields, withField } from "../../dashboard/data/json-schema.ts";

const schema = z.object({
  name: z.string(),
  size: z.enum(["small", "large"]).optional(),
  count: z.int().min(1),
  gift: z.boolean(),
  urgent: z.boolean().optional(),
  address: z.object({ city: z.string(), lines: z.array(z.string()) }),
  note: z.object({ text: z.string() }).optional(),
  either: z.union([z.string(), z.number()]),
});
const fields = toFields(z.toJSONSchema(schema, { io: "input" }) as JsonSchema) ?? [];

test("a form has a field for each part of an object, and JSON for what no field can hold", () => {
  expect(fields.map(({ path, kind, required }) => [path.join("."), kind, required])).toEqual([
    ["name", "text", true],
    ["size", "choice", false],
    ["count", "number", true],
    ["gift", "check", true],
    ["urgent", "json", false],
    ["address.city", "text", true],
    ["address.lines", "json", true],
    ["note", "json", false],
    ["either", "json", true],
  ]);
});

test.each([null, { type: "string" }, { type: "object", additionalProperties: { type: "number" } }, {}] as const)(
  "the schema %j has no form",
  (other) => expect(toFields(other as JsonSchema | null)).toBeNull(),
);

test("a value that the fields can't show whole is edited as JSON", () => {
  const value = { name: "a", count: 2, gift: true, address: { city: "b", lines: ["c"] }, either: 1 };
  expect(fits(value, fields)).toBe(true);
  expect(fits(undefined, fields)).toBe(true);
  expect(fits({ ...value, other: 1 }, fields)).toBe(false);
  expect(fits({ ...value, address: { ...value.address, zip: "1" } }, fields)).toBe(false);
  expect(fits({ ...value, count: "2" }, fields)).toBe(false);
  expect(fits({ ...value, size: "medium" }, fields)).toBe(false);
  expect(fits([value], fields)).toBe(false);
});

test("a part is set within what is there, and removed when it is emptied", () => {
  const once = withField(undefined, ["address", "city"], "Kyoto");
  expect(once).toEqual({ address: { city: "Kyoto" } });
  expect(withField(once, ["name"], "a")).toEqual({ address: { city: "Kyoto" }, name: "a" });
  expect(withField({ name: "a", count: 1 }, ["name"], undefined)).toEqual({ count: 1 });
  expect(fieldOf(once, ["address", "city"])).toBe("Kyoto");
  expect(fieldOf(once, ["address", "city", "part"])).toBeUndefined();
});

import { expect, test } from "vitest";
import { buildSql } from "./sql.ts";

function template(parts: TemplateStringsArray, ...values: unknown[]): [TemplateStringsArray, unknown[]] {
  return [parts, values];
}

test.each([
  ["sqlite", "select * from orders where id = ? and note = '$1 ?' and total > ?"],
  ["postgres", "select * from orders where id = $1 and note = '$1 ?' and total > $2"],
] as const)("each value becomes a parameter in the way of %s", (dialect, text) => {
  const sql = template`select * from orders where id = ${"1'; drop table orders"} and note = '$1 ?' and total > ${5n}`;

  expect(buildSql(dialect, ...sql)).toEqual({ text, parameters: ["1'; drop table orders", 5n] });
});

test("a template without values is its text", () => {
  expect(buildSql("postgres", ...template`select 1`)).toEqual({ text: "select 1", parameters: [] });
});

test.each(["select 1", ["select 1"], undefined, null, 5])("%j is no template", (parts) => {
  expect(() => buildSql("sqlite", parts as never, [])).toThrow(expect.objectContaining({ code: "sql.invalid" }));
});

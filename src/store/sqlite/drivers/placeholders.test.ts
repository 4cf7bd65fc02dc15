import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { withoutNumbers } from "./placeholders.ts";

/** Runs it with placeholders that have no numbers. */
function run(text: string, parameters: readonly (string | number)[]): unknown[] {
  const database = new DatabaseSync(":memory:");
  try {
    const plain = withoutNumbers(text);
    return database.prepare(plain.text).all(...plain.bind(parameters));
  } finally {
    database.close();
  }
}

test("a numbered parameter has its value wherever its number stands", () => {
  expect(run("select ?2 as a, ?1 as b, ?2 as c, ?10 as d", ["x", "y", 3, 4, 5, 6, 7, 8, 9, "z"])).toEqual([
    { a: "y", b: "x", c: "y", d: "z" },
  ]);
});

test("a parameter without a number follows the highest number before it", () => {
  expect(run("select ?2 as a, ? as b, ?1 as c", ["x", "y", "z"])).toEqual([{ a: "y", b: "z", c: "x" }]);
});

test("question marks in texts, quoted names and comments stay as they are", () => {
  const text = `select '?1''?2' as "?1""?9", 'b' as [?3], 'c' as \`?4\`, ?1 as e -- ?5 isn't one
    /* '?6 */ where ?1 = ?1`;

  expect(withoutNumbers(text).text).toBe(text.replace("?1 as e", "? as e").replace("?1 = ?1", "? = ?"));
});

test("a statement without numbers isn't touched", () => {
  expect(withoutNumbers("select ? as a, '?' as b").text).toBe("select ? as a, '?' as b");
});

test("parameters that the statement doesn't have are refused, as without numbers", () => {
  expect(() => run("select ?1 as a", ["x", "y"])).toThrow();
  expect(() => run("select ?1 as a, ?2 as b", ["x"])).toThrow();
});

import { readdirSync, readFileSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SWEEP_DEPENDENTS } from "../../../src/store/sqlite/sql/instances-delete.ts";
import { HOOKS } from "./sqlite/hooks.ts";
import { INSTANCES } from "./sqlite/instances.ts";
import { JOBS } from "./sqlite/jobs.ts";
import { LINES } from "./sqlite/lines.ts";
import { openDatabase, stepsOf } from "./sqlite/searches.ts";
import { SUBJECTS } from "./sqlite/subjects.ts";
import { readStatements } from "./statements.ts";

const FOLDER = fileURLToPath(new URL("./sqlite", import.meta.url));
const FILE = fileURLToPath(import.meta.url);
const TABLES = [HOOKS, INSTANCES, LINES, SUBJECTS, JOBS];

describe.each(TABLES)("SQLite", ({ rows, fill, statements }) => {
  let database: DatabaseSync;

  beforeAll(() => {
    database = openDatabase();
  });
  afterAll(() => database.close());

  test.each(statements)("without statistics reads only what it needs to %s", (_, sql, steps) => {
    expect(stepsOf(database, sql)).toEqual(steps);
  });

  describe(`with statistics of ${rows}`, () => {
    beforeAll(() => fill(database));

    test.each(statements)("reads only what it needs to %s", (_, sql, steps) => {
      expect(stepsOf(database, sql)).toEqual(steps);
    });
  });
});

describe("SQLite", () => {
  test.each(SWEEP_DEPENDENTS)("reads rows of one instance only to %s", (sql) => {
    const empty = openDatabase();
    const full = openDatabase();
    INSTANCES.fill(full);
    for (const database of [empty, full]) {
      const steps = stepsOf(database, sql);
      expect(steps.length).toBeGreaterThan(1);
      for (const step of steps) expect(step).toMatch(/^PRIMARY KEY \(ref=\?/);
      database.close();
    }
  });
});

describe("each statement of SQLite", () => {
  const planned = new Map([
    ...TABLES.flatMap(({ statements }) => statements).map(([, sql, steps]) => [sql, steps] as const),
    ...SWEEP_DEPENDENTS.map((sql) => [sql, ["PRIMARY KEY"]] as const),
  ]);
  const tables = [FILE, ...readdirSync(FOLDER).map((file) => `${FOLDER}/${file}`)].map((file) =>
    readFileSync(file, "utf8"),
  );

  describe.each(readStatements("sqlite"))("$name", ({ name, file, indexes }) => {
    let texts: readonly string[];

    beforeAll(async () => {
      const { [name]: statement } = (await import(file)) as Record<string, unknown>;
      texts = typeof statement === "string" ? [statement] : Array.isArray(statement) ? statement : [];
    });

    test("has a test of its plan", () => {
      for (const text of texts) expect(planned.has(text), text).toBe(true);
      expect(tables.some((table) => new RegExp(`[( ]${name}[(,.)]`).test(table))).toBe(true);
    });

    test("uses the indexes that its comment names", () => {
      expect(indexes).toBeDefined();
      for (const text of texts) expect(unused(indexes ?? "", planned.get(text) ?? [])).toEqual([]);
    });
  });
});

/**
 * The indexes of a comment that the plan doesn't use. A plan without a step only checks for conflicts, which it doesn't tell.
 */
function unused(indexes: string, steps: readonly string[]): string[] {
  if (steps.length === 0) return [];
  const named = indexes.includes("none") ? ["SCAN"] : (indexes.match(/perdure_\w+|primary key/g) ?? []);
  return named.filter((name) => !steps.some((step) => step.toLowerCase().includes(name.toLowerCase())));
}

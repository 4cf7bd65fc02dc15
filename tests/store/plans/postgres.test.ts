import { describe, expect, test } from "vitest";
import { CATALOG } from "./postgres/catalog.ts";
import { HOOKS } from "./postgres/hooks.ts";
import { INSTANCES } from "./postgres/instances.ts";
import { JOBS } from "./postgres/jobs.ts";
import { LINES } from "./postgres/lines.ts";
import { describeMisledPlans } from "./postgres/misled-plans.ts";
import { SUBJECTS } from "./postgres/subjects.ts";
import { readStatements, type SourceStatement } from "./statements.ts";

const TABLES = [HOOKS, INSTANCES, LINES, CATALOG, SUBJECTS, JOBS];

for (const tables of TABLES) describeMisledPlans(tables);

/** Statements that read no table, or that only insert in a transaction of the application's. `count_instances` and workers have
 * their own tests. */
const UNPLANNED = [
  "readTime",
  "readIdentity",
  "readIsolation",
  "readTransactionId",
  "transactionStates",
  "foreignInsertHook",
  "foreignInsertInstances",
  "countInstances",
  "listWorkers",
  "sweepWorkers",
];

describe("each statement of PostgreSQL", () => {
  const statements = readStatements("postgres").filter(({ source }) => /(: |=> )Statement\b/.test(source));

  test("has a comment that names its indexes", () => {
    const commented = statements.filter(({ indexes }) => indexes !== undefined);
    expect(statements.filter((statement) => !commented.includes(statement)).map(({ name }) => name)).toEqual([]);
  });

  test("has a test of its plan", async () => {
    const records = TABLES.flatMap((tables) => tables.statements.map(([, record]) => record()));
    const planned = new Set((await Promise.all(records)).flat().map(({ statement }) => statement.name));
    const missing = statements.filter(
      (statement) => !namesOf(statement).some((name) => [...planned].some((one) => name.test(one))),
    );
    expect(missing.map(({ name }) => name).sort()).toEqual([...UNPLANNED].sort());
  });
});

/** The names that a statement is prepared under. */
function namesOf({ source }: SourceStatement): RegExp[] {
  const expressions = [...source.matchAll(/\bname: (.*),?$/gm)].map(([, expression = ""]) => expression);
  const literals = expressions.flatMap((expression) => expression.match(/`[^`]*`|"[^"]*"/g) ?? []);
  return literals.map((literal) => new RegExp(`^${literal.slice(1, -1).replaceAll(/\$\{[^}]*\}/g, ".*")}$`));
}

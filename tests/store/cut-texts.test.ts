import { describe, expect, test } from "vitest";
import { scheduleFaults } from "../../chaos/fault-schedule.ts";
import * as cutTexts from "../support/cut-texts.ts";
import { CATALOG } from "./plans/postgres/catalog.ts";
import { HOOKS } from "./plans/postgres/hooks.ts";
import { INSTANCES } from "./plans/postgres/instances.ts";
import { LINES } from "./plans/postgres/lines.ts";
import type { RecordedStatement } from "./plans/postgres/recorded-statements.ts";
import { SUBJECTS } from "./plans/postgres/subjects.ts";

const TABLES = [HOOKS, INSTANCES, LINES, CATALOG, SUBJECTS];
/** What the connection says, beside the engine's statements. */
const MESSAGES = ["commit\0", "set plan_cache_mode = force_generic_plan"];
const PLANS = scheduleFaults(1, "postgres", 600_000).map(({ plan }) => plan);
/** With the statement that a network is cut at, or falls silent at. */
const CUTS = PLANS.flatMap((plan) => ("text" in plan ? [plan] : []));

/** Only a statement that is planned once has a name that the server is told. */
function saidFor({ statement: { name, text, planOnce } }: RecordedStatement): string[] {
  return planOnce === true ? [name, text] : [text];
}

async function record(only: (description: string) => boolean = () => true): Promise<RecordedStatement[]> {
  const statements = TABLES.flatMap((table) => table.statements).filter(([description]) => only(description));
  return (await Promise.all(statements.map(([, recordOne]) => recordOne()))).flat();
}

describe("a text at which connections to PostgreSQL are cut", () => {
  const texts = new Set([...Object.values(cutTexts).flat(), ...CUTS.map(({ text }) => text)]);

  test.each([...texts].map((text) => JSON.stringify(text)))("is still said: %s", async (quoted) => {
    const said = [...MESSAGES, ...(await record()).flatMap(saidFor)];
    expect(said.filter((one) => one.includes(JSON.parse(quoted)))).not.toEqual([]);
  });

  test.each(["request", "answer"] as const)("is in chaos the commit of a step too: the %s is lost", async (lost) => {
    const names = CUTS.flatMap((plan) => (plan.name === "cut at a statement" && plan.lost === lost ? [plan.text] : []));
    const statements = await record((description) => /^commit (a|the last) step of/.test(description));
    const commits = statements.map(({ statement }) => statement.name).filter((name) => name.startsWith("commit"));
    expect(commits).toHaveLength(2);
    expect(names).toEqual(expect.arrayContaining(commits));
  });
});

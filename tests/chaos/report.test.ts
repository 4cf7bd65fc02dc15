import { expect, test } from "vitest";
import { describeProblems, describeResult, problemsOf } from "../../chaos/report.ts";

const entry = { at: 1500, process: "p1", workload: "hooks", item: "a" };
const result = {
  accounts: {
    hooks: {
      table: { plain: { accepted: 12, lost: 1 }, keyed: { accepted: 3, lost: 0 } },
      problems: [{ promise: "nothing accepted is lost", details: "a never ran", items: ["a"] }],
    },
  },
  problems: [{ promise: "processes survive faults", details: "p1 ended by itself", items: [] }],
  faults: new Map([["killed", 2]]),
  processes: 7,
  entries: [
    { ...entry, did: "asked", kind: "plain" },
    { ...entry, did: "asked", item: "b" },
    { ...entry, did: "accepted" },
  ],
};

test("the table has a line for each kind of work, and their sum", () => {
  expect(describeResult(result).split("\n")).toEqual([
    "7 processes. Faults: killed 2.",
    "",
    "hooks   accepted  lost",
    "------  --------  ----",
    "plain         12     1",
    "keyed          3     0",
    "------  --------  ----",
    "in all        15     1",
  ]);
});

test("a broken promise is reported with the whole history of its items", () => {
  expect(problemsOf(result)).toHaveLength(2);
  expect(describeProblems(result)).toBe(
    [
      "Broken: processes survive faults.",
      "  p1 ended by itself.",
      "",
      "Broken: nothing accepted is lost.",
      "  a never ran.",
      '    1.500 s  p1: asked a {"kind":"plain"}',
      "    1.500 s  p1: accepted a",
    ].join("\n"),
  );
});

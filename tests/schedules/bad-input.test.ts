import { describe, expect, test } from "vitest";
import { defineWorkflow, perdure, WorkflowEntrypoint } from "../../src/index.ts";

const run = async () => {};

describe("schedules that can't be are refused when the workflow is defined", () => {
  test.each([
    ["no array", "0 9 * * *", /must be an array/],
    ["no cron", [{ timezone: "UTC" }], /A cron expression has five fields/],
    ["a bad cron", ["9 Uhr"], /A cron expression has five fields/],
    ["a bad time zone", [{ cron: "0 9 * * *", timezone: "Berlin" }], /A time zone is a name like/],
    [
      "an unknown option",
      [{ cron: "0 9 * * *", zone: "UTC" }],
      /has no option "zone"; it takes cron, timezone, params, name/,
    ],
    ["a bad name", [{ cron: "0 9 * * *", name: "every day" }], /The name of a schedule must be/],
    ["a long name", [{ cron: "0 9 * * *", name: "x".repeat(65) }], /at most 64 characters/],
    ["two of one name", ["0 9 * * *", "0  9 * * *"], /Two schedules of a workflow have the name "0_9_x_x_x"/],
    [
      "a list too long for a name",
      [`${Array.from({ length: 30 }, (_, minute) => minute).join()} * * * *`],
      /at most 64/,
    ],
    ["params that can't be stored", [{ cron: "0 9 * * *", params: () => {} }], /params is a function/],
  ])("%s", (_, schedules, problem) => {
    expect(() => defineWorkflow({ name: "report", schedules: schedules as never }, run)).toThrow(problem);
  });

  test("params that the workflow's schema refuses", () => {
    const input = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: (value: unknown) => (value === 1 ? { value } : { issues: [{ message: "must be one" }] }),
      },
    } as const;
    expect(() => defineWorkflow({ name: "report", input, schedules: ["0 9 * * *"] }, run)).toThrow(/must be one/);
    expect(
      defineWorkflow({ name: "report", input, schedules: [{ cron: "0 9 * * *", params: 1 }] }, run).schedules,
    ).toHaveLength(1);
  });

  test("those of a registry, before a database is opened", async () => {
    class Report extends WorkflowEntrypoint {
      async run() {}
    }
    const workflows = { report: { name: "report", workflow: Report, schedules: ["never"] } };
    await expect(perdure({ database: "/nowhere/at/all.db", workflows })).rejects.toMatchObject({
      code: "schedule.invalid",
    });
  });
});

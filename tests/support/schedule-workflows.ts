import { defineWorkflow } from "../../src/index.ts";

/** One that is created every second. */
export const scheduledWorkflows = {
  tick: defineWorkflow({ name: "tick", schedules: [{ cron: "* * * * * *", name: "each" }] }, async (event, step) =>
    step.do("tell", () => event.schedule?.scheduledTime ?? null),
  ),
};

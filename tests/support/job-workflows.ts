import { defineWorkflow } from "../../src/index.ts";

/** One that waits until something is done to it. */
export const workflowsOfJobs = {
  idle: defineWorkflow({ name: "idle" }, async (_event, step) => {
    await step.waitForEvent("word", { type: "word", timeout: "1 day" });
  }),
};

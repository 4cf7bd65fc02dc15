import { defineHook } from "../../../src/hooks/define-hook.ts";
import { defineWorkflow } from "../../../src/workflows/define/define-workflow.ts";
import type { WorkflowEvent } from "../../../src/workflows/define/workflow-event.ts";

/** Gives its params back. */
const echo = defineWorkflow({ name: "echo" }, async (event: WorkflowEvent<unknown>, step) =>
  step.do("echo", async () => event.payload),
);

/** Waits for an approval, and gives what it said. */
const approval = defineWorkflow({ name: "approval" }, async (_event: WorkflowEvent<unknown>, step) => {
  await step.do("ask", async () => "asked");
  const { payload } = await step.waitForEvent<unknown>("answer", { type: "approved" });
  return payload;
});

/** Sleeps for long. */
const sleeper = defineWorkflow({ name: "sleeper" }, async (_event: WorkflowEvent<unknown>, step) => {
  await step.sleep("night", "8 hours");
});

const failing = defineWorkflow({ name: "failing" }, async (event: WorkflowEvent<unknown>) => {
  throw new TypeError(`can't do ${JSON.stringify(event.payload)}`);
});

/** Its second step fails until it is told otherwise; its first can be taken back. */
export const repair = { broken: true, log: [] as string[] };
const fragile = defineWorkflow({ name: "fragile" }, async (_event: WorkflowEvent<unknown>, step) => {
  await step.do("first", async () => void repair.log.push("first"), {
    rollback: async () => void repair.log.push("first taken back"),
  });
  await step.do("second", { retries: { limit: 0, delay: 0 } }, async () => {
    repair.log.push("second");
    if (repair.broken) throw new Error("broken");
  });
  await step.waitForEvent("end", { type: "end" });
});

/** Its step fails for good until it is told otherwise. */
export const unsure = { broken: true };
const uncertain = defineWorkflow({ name: "unsure" }, async (_event: WorkflowEvent<unknown>, step) =>
  step.do("be sure", { retries: { limit: 0, delay: 0 } }, async () => {
    if (unsure.broken) throw new Error("not sure");
    return "sure";
  }),
);

/** Runs by itself at night. */
const nightly = defineWorkflow(
  { name: "nightly", schedules: [{ cron: "0 2 * * *", name: "night" }] },
  async () => "done",
);

/** Fails at once for good. */
export const breaks = defineHook({ retries: { limit: 0 } }, async (payload: { text: string }) => {
  throw new RangeError(`broken by ${payload.text}`);
});

/** Runs an hour later, at the earliest. */
const later = defineHook({}, async (_payload: { text: string }) => {});

export const workflows = { echo, approval, sleeper, failing, fragile, uncertain, nightly };
export const hooks = { breaks, later };

import { defineWorkflow, type WorkflowStep } from "../../../src/index.ts";

/** Notes when each of its steps ran. Before the second one it waits. */
export function createTour(wait: (step: WorkflowStep) => Promise<unknown>) {
  const ran: string[] = [];
  const tour = defineWorkflow({ name: "tour" }, async (_event, step: WorkflowStep) => {
    await step.do("first", () => void ran.push("first"));
    const waited = await wait(step);
    await step.do("second", () => void ran.push("second"));
    return { waited };
  });
  return { tour, ran };
}

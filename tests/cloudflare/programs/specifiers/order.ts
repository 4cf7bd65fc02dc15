import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";

export class OrderWorkflow extends WorkflowEntrypoint<unknown, { name: string }> {
  async run(event: WorkflowEvent<{ name: string }>, step: WorkflowStep) {
    return step.do("greet", async () => `Hello, ${event.payload.name}!`);
  }
}

import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";
import { greet } from "./lib/";

export class OrderWorkflow extends WorkflowEntrypoint<unknown, { name: string }> {
  async run(event: WorkflowEvent<{ name: string }>, step: WorkflowStep) {
    return step.do("greet", async () => greet(event.payload.name));
  }
}

import { env, WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";

/** Reads its environment from the module, and not from itself. */
export class GreetingWorkflow extends WorkflowEntrypoint {
  override async run(_event: WorkflowEvent<unknown>, step: WorkflowStep) {
    return step.do("greet", async () => `Hello, ${(env as { NAME?: string }).NAME}!`);
  }
}

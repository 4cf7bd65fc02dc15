import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";

enum Language {
  English = "Hello",
}

class Greeter {
  constructor(private readonly word: string) {}

  greet(name: string): string {
    return `${this.word}, ${name}!`;
  }
}

export class OrderWorkflow extends WorkflowEntrypoint<unknown, { name: string }> {
  async run(event: WorkflowEvent<{ name: string }>, step: WorkflowStep) {
    return step.do("greet", async () => new Greeter(Language.English).greet(event.payload.name));
  }
}

export default {
  async fetch(request: Request, env: { ORDERS: Workflow<{ name: string }> }): Promise<Response> {
    const name = new URL(request.url).searchParams.get("name") ?? "nobody";
    const instance = await env.ORDERS.create({ params: { name } });
    return Response.json({ id: instance.id });
  },
};

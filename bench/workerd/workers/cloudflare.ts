import { WorkflowEntrypoint } from "cloudflare:workers";
import { type OrderStep, runOrder, untilComplete } from "./order.ts";

interface Instance {
  status(): Promise<{ readonly status: string }>;
}

/** On the engine that miniflare has. */
export class OrderWorkflow extends WorkflowEntrypoint {
  override run(_event: unknown, step: OrderStep): Promise<number> {
    return runOrder(step);
  }
}

export default {
  async fetch(request: Request, env: { readonly ORDERS: { create(): Promise<Instance> } }): Promise<Response> {
    const { count } = (await request.json()) as { count: number };
    const instances = await Promise.all(Array.from({ length: count }, () => env.ORDERS.create()));
    await untilComplete(instances);
    return new Response("done");
  },
};
